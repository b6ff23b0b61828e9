/** The repository `app.git` with one commit of two charts and the tag v1.0.0, its server over HTTP, and clients of it. */
import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createGitClient, type GitClient, type GitClientOptions } from "../client.ts";
import { type GitHttpServer, startGitHttpServer } from "./git-http-server.ts";
import { createRepository } from "./git-repository.ts";

export interface ServedApp {
  /** The directory of the server. */
  readonly root: string;
  /** Where clients keep what they read. */
  readonly temporary: string;
  readonly server: GitHttpServer;
  /** Its first commit. */
  readonly first: string;
  client(options?: Partial<GitClientOptions>): GitClient;
  /** One that does not exist, for a checkout. */
  newDir(): string;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function serveApp(): Promise<ServedApp> {
  const root = await mkdtemp(join(tmpdir(), "git-root-"));
  const temporary = join(root, ".tmp");
  const server = await startGitHttpServer(root);
  const app = await createRepository(root, "app.git");
  const first = await app.commit({
    "charts/app/Chart.yaml": "name: app\nversion: 1.0.0\n",
    "charts/other/Chart.yaml": "name: other\nversion: 1.0.0\n",
    "charts/app/logo.png": "picture",
    "docs/big.bin": incompressible(100_000),
  });
  await app.git("tag", "-a", "v1.0.0", "-m", "one");
  await app.git("push", "-q", "origin", "v1.0.0");
  let checkouts = 0;

  return {
    ...{ root, temporary, server, first },
    client: (options = {}) =>
      createGitClient({
        dir: temporary,
        userAgent: "test",
        egress: { allowLoopback: true },
        ...options,
      }),
    newDir() {
      checkouts += 1;
      return join(root, `.out-${checkouts}`);
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await rm(root, { recursive: true, force: true });
    },
  };
}

/** A text of this length that a pack cannot make much shorter. */
function incompressible(length: number): string {
  const digest = (index: number) => createHash("sha256").update(String(index)).digest("hex");
  const digests = Array.from({ length: Math.ceil(length / 64) }, (_, index) => digest(index));
  return digests.join("").slice(0, length);
}
