import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join, matchesGlob, relative } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../../../..", import.meta.url));

/** An instruction of a Dockerfile, such as `USER 1000`, on one line. */
export interface Instruction {
  readonly name: string;
  readonly text: string;
}

/** Returns the instructions of the Dockerfile. */
export function instructionsOf(file = "Dockerfile"): readonly Instruction[] {
  return readFileSync(join(root, file), "utf8")
    .replace(/^#.*\n/gm, "")
    .replace(/\\\n\s*/g, "")
    .split("\n")
    .filter(Boolean)
    .map((line) => ({ name: line.split(" ", 1)[0] ?? "", text: line.replace(/^\S+ /, "") }));
}

/** Returns the words of an instruction in the form that starts no shell. Throws if it has another one. */
export function wordsOf(text: string): readonly string[] {
  return JSON.parse(text.slice(text.indexOf("["))) as string[];
}

/** What a container of the image starts with. */
export interface Image {
  /** The folder that stands for `/`. */
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly workdir: string;
  readonly user: { readonly uid: number; readonly gid: number };
  /** What it runs, and how it checks its health. */
  readonly command: readonly string[];
  readonly healthcheck: readonly string[];
}

/**
 * Performs the instructions of the Dockerfile, with a folder for the root of each stage. A stage whose folder is
 * there already is not performed.
 */
export function build(place: string): Image {
  let image = start(join(place, "none"));
  let isThere = false;
  for (const { name, text } of instructionsOf()) {
    if (name === "FROM") {
      const folder = join(place, stageOf(text));
      isThere = existsSync(folder);
      image = start(folder);
    } else if (!isThere) {
      image = perform(image, name, text, place);
    }
  }
  return image;
}

function start(folder: string): Image {
  mkdirSync(folder, { recursive: true });
  const PATH = [dirname(process.execPath), process.env["PATH"]].join(":");
  const user = { uid: 0, gid: 0 };
  return { folder, environment: { PATH }, workdir: "/", user, command: [], healthcheck: [] };
}

function stageOf(from: string): string {
  return / AS (\w+)$/.exec(from)?.[1] ?? "final";
}

function perform(image: Image, name: string, text: string, place: string): Image {
  const { folder, environment, workdir, command } = image;
  switch (name) {
    case "WORKDIR":
      mkdirSync(join(folder, text), { recursive: true });
      return { ...image, workdir: text };
    case "ENV": {
      const [, variable = "", value = ""] = /^(\w+)=(.*)$/.exec(text) ?? [];
      const expanded = value.replace("$PATH", environment["PATH"] ?? "");
      return { ...image, environment: { ...environment, [variable]: within(folder, expanded) } };
    }
    case "COPY":
      copy(image, text.split(" "), place);
      return image;
    case "RUN":
      execFileSync("sh", ["-c", withOwner(within(folder, text))], {
        cwd: join(folder, workdir),
        // Packages come from where this machine gets them.
        env: { ...process.env, ...environment },
        stdio: ["ignore", "ignore", "inherit"],
      });
      return image;
    case "USER": {
      const [uid = NaN, gid = NaN] = text.split(":").map(Number);
      return { ...image, user: { uid, gid } };
    }
    case "ENTRYPOINT":
      return { ...image, command: wordsOf(text) };
    case "CMD":
      return { ...image, command: [...command, ...wordsOf(text)] };
    case "HEALTHCHECK":
      return { ...image, healthcheck: wordsOf(text) };
    // These only tell Docker something.
    case "VOLUME":
    case "EXPOSE":
      return image;
    default:
      throw new Error(`It is not known how to perform ${name}.`);
  }
}

/** Puts the folders of the image that a text names into the folder that stands for `/`. */
function within(folder: string, text: string): string {
  return text.replace(/(?<![\w.])\/(?:source|app|data)\b/g, `${folder}$&`);
}

/** Only root can give files away: others keep them. */
function withOwner(text: string): string {
  const own = `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`;
  return own === "0:0" ? text : text.replace(/(?<=chown )\d+:\d+/, own);
}

function copy({ folder, workdir }: Image, words: readonly string[], place: string): void {
  const [first = "", from = "", to = ""] = words;
  const [, stage] = /^--from=(\w+)$/.exec(first) ?? [];
  if (stage !== undefined) {
    execFileSync("cp", ["-a", join(place, stage, from), join(folder, to)]);
    return;
  }
  if (words.join(" ") !== ". .") throw new Error("It is only known how to copy everything.");
  const isIgnored = ignored();
  cpSync(root, join(folder, workdir), {
    recursive: true,
    filter: (path) => !isIgnored(relative(root, path)),
  });
}

/** Reads .dockerignore, whose last line that fits counts. What lies in a folder is as the folder. */
function ignored(): (path: string) => boolean {
  const patterns = readFileSync(join(root, ".dockerignore"), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  const isIgnored = (path: string): boolean => {
    if (path === "") return false;
    const last = patterns.findLast((pattern) => matchesGlob(path, pattern.replace("!", "")));
    if (last === undefined || last === "*") {
      return path.includes("/") ? isIgnored(dirname(path)) : last === "*";
    }
    return !last.startsWith("!");
  };
  return isIgnored;
}
