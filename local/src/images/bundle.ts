/** Bundles a program, with the files beside it that it reads while it runs; for the hub also the page of its dashboard. */
import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "esbuild";
import { buildPage } from "./page.ts";

/** The programs that have an image. */
export const programs = ["hub", "agent"] as const;
export type ProgramName = (typeof programs)[number];

/**
 * `node:http` has fields that load another HTTP client, of 2 MB, when they are read. An `import` of Node reads all of them, `require`
 * none.
 */
const modulesOfNode: Plugin = {
  name: "modules of Node",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(node:)?https?$/ }, ({ path, kind }) =>
      kind === "require-call"
        ? { path, external: true }
        : { path: path.replace(/^(?!node:)/, "node:"), namespace: "node" },
    );
    onLoad({ filter: /./, namespace: "node" }, ({ path }) => ({
      contents: `module.exports = require(${JSON.stringify(path)});`,
      loader: "js",
    }));
  },
};

/** The root of the repository: programs are bundled from their sources, which this package does not import. */
const root = fileURLToPath(new URL("../../..", import.meta.url));

/** Bundled packages of CommonJS call `require` for modules of Node. */
const requireOfNode =
  'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';

/**
 * Writes `bin/flotilla-hub.js` and `dashboard`, or `bin/flotilla-agent.js` to `dir`. Returns the paths of the files that it
 * consists of.
 */
export async function bundleProgram(program: ProgramName, dir: string): Promise<readonly string[]> {
  const inputs = await bundleScripts(program, dir);
  const page = program === "hub" ? await buildPage(root, join(dir, "dashboard")) : [];
  return [...inputs, ...page];
}

/** As {@link bundleProgram}, without the page of the dashboard. */
export async function bundleScripts(program: ProgramName, dir: string): Promise<readonly string[]> {
  // Loaded here: every command of `flotilla` loads this module, and few of them bundle.
  const { build } = await import("esbuild");
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [
      { in: `${program}/src/main.ts`, out: `bin/flotilla-${program}` },
      // Threads and processes of their own, which are started by their path.
      ...(program === "agent"
        ? [
            { in: "agent/src/inputs/reader/reader-main.ts", out: "bin/reader-main" },
            {
              in: "agent/src/helm/postrender/post-renderer-main.ts",
              out: "bin/post-renderer-main",
            },
          ]
        : [
            { in: "hub/src/base/reader/reader-main.ts", out: "bin/reader-main" },
            { in: "shared/src/charts/source/http/index-worker.ts", out: "bin/index-worker" },
          ]),
    ],
    bundle: true,
    platform: "node",
    target: "node24",
    format: "esm",
    // What is imported when it is needed is loaded then, and shared by the program and its workers. In the folder of the
    // programs, because modules find files by their own path.
    splitting: true,
    chunkNames: "bin/[name]-[hash]",
    // V8 keeps the text of a program in memory. Names stay, for stack traces.
    minifyWhitespace: true,
    minifySyntax: true,
    outdir: dir,
    banner: { js: requireOfNode },
    plugins: [modulesOfNode],
    legalComments: "external",
    metafile: true,
    logLevel: "silent",
  });
  await mkdir(dir, { recursive: true });
  await copyFile(join(root, "proto", "fleet.proto"), join(dir, "fleet.proto"));
  return Object.keys(metafile.inputs);
}

/** The packages of npm in a bundle, as `name@version`, sorted. */
export async function bundledPackages(inputs: readonly string[]): Promise<readonly string[]> {
  const dirs = new Set(
    inputs.flatMap((path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []),
  );
  const names = await Promise.all(
    [...dirs].map(async (dir) => {
      const { default: manifest } = (await import(join(root, dir, "package.json"), {
        with: { type: "json" },
      })) as { default: { name: string; version: string } };
      return `${manifest.name}@${manifest.version}`;
    }),
  );
  return [...new Set(names)].sort();
}
