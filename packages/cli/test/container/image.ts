import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join, matchesGlob, relative } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../../../..", import.meta.url));

/** The instructions of the Dockerfile, such as `USER 1000`, each on one line. */
export const instructions = readFileSync(join(root, "Dockerfile"), "utf8")
  .replace(/^#.*\n/gm, "")
  .replace(/\\\n\s*/g, "")
  .split("\n")
  .filter(Boolean)
  .map((line) => ({ name: line.split(" ", 1)[0] ?? "", text: line.replace(/^\S+ /, "") }));

/** Returns the words of an instruction in the form that starts no shell. Throws if it has another one. */
export function wordsOf(text: string): readonly string[] {
  return JSON.parse(text.slice(text.indexOf("["))) as string[];
}

export type Image = ReturnType<typeof build>;

/**
 * Performs the instructions of the Dockerfile, with a folder for the root of each stage. A stage whose folder is there
 * already is not performed. Returns what a container of the last stage starts with.
 */
export function build(place: string) {
  const start = (folder: string) => ({
    folder,
    isThere: existsSync(folder),
    environment: {
      PATH: `${dirname(process.execPath)}:${process.env["PATH"]}`,
    } as NodeJS.ProcessEnv,
    workdir: "/",
    user: { uid: 0, gid: 0 },
    command: [] as readonly string[],
    healthcheck: [] as readonly string[],
  });
  let image = start(place);
  /** Puts the folders that a text names into the one that stands for `/`. */
  const within = (text: string): string =>
    text.replace(/(?<![\w.])\/(?:source|app|data)\b/g, `${image.folder}$&`);
  const perform: Readonly<Record<string, (text: string) => void>> = {
    WORKDIR: (text) => {
      image.workdir = text;
      mkdirSync(within(text), { recursive: true });
    },
    ENV: (text) => {
      const [, name = "", value = ""] = /^(\w+)=(.*)$/.exec(text) ?? [];
      image.environment[name] = within(value).replace("$PATH", image.environment["PATH"] ?? "");
    },
    COPY: (text) => {
      const [, stage = "", from = "", to = ""] = /^--from=(\w+) (\S+) (\S+)$/.exec(text) ?? [];
      if (stage) execFileSync("cp", ["-a", join(place, stage, from), within(to)]);
      else if (text === ". .") cpSync(root, within(image.workdir), { recursive: true, filter });
      else throw new Error(`It is not known how to copy ${text}.`);
    },
    RUN: (text) => {
      // Only root can give files away: others keep them.
      const owned = process.getuid?.() === 0 ? text : text.replace(/&& chown \S+ \S+/, "");
      // Packages come from where this machine gets them.
      const env = { ...process.env, ...image.environment };
      const options = {
        cwd: within(image.workdir),
        env,
        stdio: ["ignore", "ignore", "inherit"] as const,
      };
      execFileSync("sh", ["-c", within(owned)], { ...options, stdio: [...options.stdio] });
    },
    USER: (text) => {
      const [uid = NaN, gid = NaN] = text.split(":").map(Number);
      image.user = { uid, gid };
    },
    ENTRYPOINT: (text) => (image.command = wordsOf(text)),
    CMD: (text) => (image.command = [...image.command, ...wordsOf(text)]),
    HEALTHCHECK: (text) => (image.healthcheck = wordsOf(text)),
    // These only tell Docker something.
    VOLUME: () => undefined,
    EXPOSE: () => undefined,
  };
  for (const { name, text } of instructions) {
    if (name === "FROM") {
      image = start(join(place, / AS (\w+)$/.exec(text)?.[1] ?? "final"));
      mkdirSync(image.folder, { recursive: true });
    } else if (!image.isThere) {
      const step = perform[name];
      if (!step) throw new Error(`It is not known how to perform ${name}.`);
      step(text);
    }
  }
  return image;
}

const patterns = readFileSync(join(root, ".dockerignore"), "utf8").match(/^[^#\n].*/gm) ?? [];

/** Whether Docker copies a path: of the lines of .dockerignore that fit it or a folder above it, the last counts. */
function filter(path: string): boolean {
  const names = relative(root, path).split("/");
  const above = names.map((_, index) => names.slice(0, index + 1).join("/"));
  const fits = (pattern: string) =>
    above.some((each) => matchesGlob(each, pattern.replace("!", "")));
  return names[0] === "" || Boolean(patterns.findLast(fits)?.startsWith("!"));
}
