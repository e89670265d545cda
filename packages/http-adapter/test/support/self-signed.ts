import { createSign, generateKeyPairSync } from "node:crypto";

/**
 * Makes a key and signs a certificate for localhost and 127.0.0.1 with it (RFC 5280), which Node can read but
 * not write: so no test needs openssl, a committed key or an eye on an expiry date. Both are PEM.
 */
export function createSelfSigned(): { readonly key: string; readonly cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const subject = sequence(der(0x31, sequence(COMMON_NAME, der(0x0c, Buffer.from("localhost")))));
  const certificate = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    sequence(ECDSA_WITH_SHA256),
    subject,
    sequence(der(0x17, Buffer.from("200101000000Z")), der(0x18, Buffer.from("99991231235959Z"))),
    subject,
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(sequence(SUBJECT_ALT_NAME, der(0x04, sequence(...NAMES))))),
  );
  const signature = createSign("sha256").update(certificate).sign(privateKey);
  const signed = sequence(
    certificate,
    sequence(ECDSA_WITH_SHA256),
    der(0x03, Buffer.from([0]), signature),
  );
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${signed.toString("base64")}\n-----END CERTIFICATE-----\n`,
  };
}

const COMMON_NAME = der(0x06, Buffer.from("550403", "hex"));
const SUBJECT_ALT_NAME = der(0x06, Buffer.from("551d11", "hex"));
const ECDSA_WITH_SHA256 = der(0x06, Buffer.from("2a8648ce3d040302", "hex"));
const NAMES = [der(0x82, Buffer.from("localhost")), der(0x87, Buffer.from([127, 0, 0, 1]))];

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, ...parts);
}

/** A tag, a length and a value (ITU-T X.690). */
function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const value = Buffer.concat(parts);
  const long = [value.length >> 8, value.length & 0xff];
  const length = value.length < 0x80 ? [value.length] : [0x82, ...long];
  return Buffer.concat([Buffer.from([tag, ...length]), value]);
}
