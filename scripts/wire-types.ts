/** TypeScript types generated from proto/fleet.proto by `proto-loader-gen-types`. */
import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** The text of each file, by path below `folder`. */
export async function wireTypes(
  root: string,
  folder: string,
): Promise<ReadonlyMap<string, string>> {
  const dir = await mkdtemp(join(tmpdir(), "flotilla-wire-"));
  try {
    const options = [
      "--longs=String",
      "--enums=String",
      "--defaults",
      "--oneofs",
      "--grpcLib=@grpc/grpc-js",
    ];
    const endings = ["--importFileExtension=.ts", "--targetFileExtension=.ts"];
    const generator = join(root, "node_modules/.bin/proto-loader-gen-types");
    await run(generator, [...options, ...endings, "-O", dir, "proto/fleet.proto"], { cwd: root });
    const files = new Map<string, string>();
    for (const entry of await readdir(dir, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const file = join(entry.parentPath, entry.name);
      files.set(join(folder, file.slice(dir.length + 1)), await readFile(file, "utf8"));
    }
    return files;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
