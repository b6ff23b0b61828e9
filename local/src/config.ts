/** The environment variables of the local fleet. Only this file of the package reads `process.env`. */
import { homedir } from "node:os";
import { join } from "node:path";
import { AppError, commonErrors } from "@flotilla/shared/errors";

/** The publishers of the programs that the local fleet runs, and of the files in images. */
export const publishers = [
  "kubernetes",
  "helm",
  "kustomize",
  "etcd",
  "registry",
  "debian",
] as const;
export type Publisher = (typeof publishers)[number];

export interface LocalConfig {
  /** Cache of programs: `FLOTILLA_CACHE`, else `flotilla` in the user's cache folder. */
  readonly cacheDir: string;
  /** The folders of PATH, in order. */
  readonly path: readonly string[];
  /** Base URLs that replace the publishers': `FLOTILLA_MIRROR_KUBERNETES`, ... */
  readonly mirrors: Readonly<Partial<Record<Publisher, string>>>;
  /** `FLOTILLA_DOWNLOADS=off` disables downloads, so that programs are built. */
  readonly downloads: boolean;
  readonly proxy: { readonly http?: string; readonly https?: string; readonly no?: string };
  /** Environment variables for `go`, `helm`, `kind` and other programs of the user. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Reads the configuration of this process. */
export function readLocalConfig(
  env: Readonly<Record<string, string | undefined>> = process.env,
): LocalConfig {
  const mirrors: Partial<Record<Publisher, string>> = {};
  for (const publisher of publishers) {
    const base = nonEmpty(env[`FLOTILLA_MIRROR_${publisher.toUpperCase()}`]);
    if (base !== undefined)
      mirrors[publisher] = parseBase(`FLOTILLA_MIRROR_${publisher.toUpperCase()}`, base);
  }
  const http = nonEmpty(env["HTTP_PROXY"] ?? env["http_proxy"]);
  const https = nonEmpty(env["HTTPS_PROXY"] ?? env["https_proxy"]);
  const no = nonEmpty(env["NO_PROXY"] ?? env["no_proxy"]);
  return {
    cacheDir:
      nonEmpty(env["FLOTILLA_CACHE"]) ??
      join(nonEmpty(env["XDG_CACHE_HOME"]) ?? join(homedir(), ".cache"), "flotilla"),
    path: (env["PATH"] ?? "").split(":").filter((dir) => dir.startsWith("/")),
    mirrors,
    downloads: parseSwitch("FLOTILLA_DOWNLOADS", env["FLOTILLA_DOWNLOADS"]),
    proxy: {
      ...(http === undefined ? {} : { http }),
      ...(https === undefined ? {} : { https }),
      ...(no === undefined ? {} : { no }),
    },
    environment: Object.fromEntries(
      Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
    ),
  };
}

function nonEmpty(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === "" ? undefined : value.trim();
}

function parseBase(name: string, value: string): string {
  if (!URL.canParse(value) || !/^https?:$/.test(new URL(value).protocol)) {
    throw new AppError(
      commonErrors.CONFIG_INVALID,
      `${name} is ${JSON.stringify(value)}: expected an http or https URL`,
    );
  }
  return value.replace(/\/+$/, "");
}

function parseSwitch(name: string, value: string | undefined): boolean {
  if (value === undefined || value === "" || value === "on") return true;
  if (value === "off") return false;
  throw new AppError(
    commonErrors.CONFIG_INVALID,
    `${name} is ${JSON.stringify(value)}: expected on or off`,
  );
}
