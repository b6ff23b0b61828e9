/** The images that the runner has: a file tree on this machine, and what the Dockerfile says about running it. */
import { readFile } from "node:fs/promises";
import { AppError } from "@flotilla/shared/errors";
import { localErrors } from "../errors.ts";

export interface ImageConfig {
  readonly entrypoint: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly user: number;
  readonly group: number;
  readonly workingDir: string;
}

export interface LocalImage extends ImageConfig {
  /** Its file tree. */
  readonly dir: string;
}

/** Images by repository, without registry and tag: `flotilla/hub`. */
export type LocalImages = Readonly<Record<string, LocalImage>>;

/** The image of a container; undefined for one that the runner does not have. The registry, the tag and the digest do not matter. */
export function findImage(images: LocalImages, reference: string): LocalImage | undefined {
  const repository = reference.replace(/@.*$/, "").replace(/:[^/]*$/, "");
  const found = Object.keys(images).find(
    (name) => repository === name || repository.endsWith(`/${name}`),
  );
  return found === undefined ? undefined : images[found];
}

/** The images of Flotilla, by the file trees of their programs. */
export async function readLocalImages(
  trees: Readonly<Record<string, string>>,
): Promise<LocalImages> {
  const read = async ([program, dir]: readonly [string, string]) => {
    const dockerfile = new URL(`../../images/${program}/Dockerfile`, import.meta.url);
    const image: LocalImage = { dir, ...parseDockerfile(await readFile(dockerfile, "utf8")) };
    return [`flotilla/${program}`, image] as const;
  };
  return Object.fromEntries(await Promise.all(Object.entries(trees).map(read)));
}

/** Reads ENV, USER, WORKDIR and ENTRYPOINT. Throws IMAGE_BUILD_FAILED for a Dockerfile without them. */
export function parseDockerfile(text: string): ImageConfig {
  const lines = text.replace(/\\\n/g, " ").split("\n");
  const instructionOf = (instruction: string): string => {
    const line = lines.find((each) => each.startsWith(`${instruction} `));
    if (line !== undefined) return line.slice(instruction.length + 1).trim();
    throw new AppError(
      localErrors.IMAGE_BUILD_FAILED,
      `read a Dockerfile: it has no ${instruction}`,
    );
  };
  const [user, group] = instructionOf("USER").split(":").map(Number);
  return {
    entrypoint: JSON.parse(instructionOf("ENTRYPOINT")) as readonly string[],
    environment: Object.fromEntries(
      instructionOf("ENV")
        .split(/\s+/)
        .map((pair): [string, string] => {
          const [name = "", ...value] = pair.split("=");
          return [name, value.join("=")];
        }),
    ),
    user: user ?? 0,
    group: group ?? 0,
    workingDir: instructionOf("WORKDIR"),
  };
}
