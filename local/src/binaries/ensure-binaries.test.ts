import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { access, chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, join } from "node:path";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import { pack } from "tar-stream";
import { type TestContext, test } from "vitest";
import { type LocalConfig, readLocalConfig } from "../config.ts";
import { testDir } from "../testing/test-parts.ts";
import { ensureBinaries } from "./ensure-binaries.ts";
import { hasGo } from "./go-build.ts";
import type { BinaryProgress } from "./progress.ts";
import { type ToolName, tools } from "./tools.ts";

const platform = { os: "linux", arch: "amd64" } as const;
const program = "#!/bin/sh\necho fake\n";

/** What a machine is like: what its publishers serve, and what its `go` does. */
interface Machine {
  readonly dir: string;
  readonly config: LocalConfig;
  /** Paths asked for at the mirror. */
  readonly asked: string[];
  readonly progress: BinaryProgress[];
  ensure<N extends ToolName>(names: readonly N[]): Promise<Readonly<Record<N, string>>>;
}

interface MachineSpec {
  /** Files of the mirror; `undefined` for a machine without the internet. */
  readonly files?: Readonly<Record<string, Buffer | string>>;
  /** Cuts answers off after this many bytes. */
  readonly cutAfter?: number;
  /** The shell code of `go build`, which finds the output in $output; without, there is no Go. */
  readonly go?: string;
}

async function machine(t: TestContext, spec: MachineSpec): Promise<Machine> {
  const dir = await testDir(t);
  const asked: string[] = [];
  const base = spec.files === undefined ? "http://127.0.0.1:1" : await serve(t, spec, asked);
  const bin = join(dir, "bin");
  await mkdir(bin);
  if (spec.go !== undefined) {
    const code = `#!/bin/sh\n[ "$1" = env ] && exit 0\nwhile [ "$1" != -o ]; do shift; done\noutput=$2\n${spec.go}\n`;
    await writeFile(join(bin, "go"), code);
    await chmod(join(bin, "go"), 0o755);
  }
  const mirrors = {
    FLOTILLA_MIRROR_KUBERNETES: base,
    FLOTILLA_MIRROR_HELM: base,
    FLOTILLA_MIRROR_ETCD: base,
  };
  const config = readLocalConfig({
    ...mirrors,
    FLOTILLA_MIRROR_REGISTRY: base,
    FLOTILLA_CACHE: join(dir, "cache"),
    // A folder that is not on the real PATH, and one in which the shell of the scripts finds its commands.
    PATH: spec.go === undefined ? bin : `${bin}:/usr/bin:/bin`,
  });
  const progress: BinaryProgress[] = [];
  // Programs of this machine must not be found: only `go` comes from the path.
  const own = { ...config, path: [] };
  return {
    dir,
    config: own,
    asked,
    progress,
    ensure: (names) =>
      ensureBinaries(names, { config: own, platform, progress: (one) => progress.push(one) }),
  };
}

async function serve(t: TestContext, spec: MachineSpec, asked: string[]): Promise<string> {
  const server = createServer((request, response) => {
    const path = (request.url ?? "").slice(1);
    asked.push(path);
    const file = spec.files?.[path];
    if (file === undefined) return response.writeHead(404).end();
    const bytes = Buffer.from(file);
    response.writeHead(200, { "content-length": bytes.length });
    if (spec.cutAfter !== undefined && bytes.length > spec.cutAfter) {
      return response.write(bytes.subarray(0, spec.cutAfter), () => response.destroy());
    }
    return response.end(bytes);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function sha256(bytes: Buffer | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

const kubectlPath = "v1.36.3/bin/linux/amd64/kubectl";
const copyingGo = `printf '%s' '${program}' > "$output"; chmod +x "$output"`;

async function cacheOf({ config }: Machine): Promise<readonly string[]> {
  const read = (dir: string): Promise<string[]> =>
    readdir(join(config.cacheDir, dir)).catch(() => []);
  return [...(await read("bin")), ...(await read("half")), ...(await read("locks"))];
}

test("a program comes from its publisher when its checksum is right, and from the cache afterwards", async (t) => {
  const here = await machine(t, {
    files: { [kubectlPath]: program, [`${kubectlPath}.sha256`]: sha256(program) },
  });

  const first = await here.ensure(["kubectl"]);
  const second = await here.ensure(["kubectl"]);

  assert.equal(await readFile(first.kubectl, "utf8"), program);
  await access(first.kubectl, 1);
  assert.deepEqual(second, first);
  assert.equal(here.asked.length, 2);
  assert.deepEqual(await cacheOf(here), ["kubectl-v1.36.3-linux-amd64"]);
  assert.deepEqual(
    [...new Set(here.progress.map((one) => one.phase))],
    ["downloading", "ready", "found"],
  );
});

test("a program is taken out of its publisher's archive", async (t) => {
  const archive = pack();
  archive.entry({ name: "linux-amd64/README.md" }, "text");
  archive.entry({ name: "linux-amd64/helm", mode: 0o755 }, program);
  archive.finalize();
  const bytes = gzipSync(await buffer(archive));
  const name = "helm-v4.3.1-linux-amd64.tar.gz";
  const here = await machine(t, {
    files: { [name]: bytes, [`${name}.sha256sum`]: `${sha256(bytes)}  ${name}\n` },
  });

  const { helm } = await here.ensure(["helm"]);

  assert.equal(await readFile(helm, "utf8"), program);
  assert.deepEqual(await cacheOf(here), ["helm-v4.3.1-linux-amd64"]);
});

const badDownloads: readonly {
  readonly name: string;
  readonly spec: MachineSpec;
  readonly reason: RegExp;
}[] = [
  {
    name: "with another checksum",
    spec: { files: { [kubectlPath]: program, [`${kubectlPath}.sha256`]: sha256("else") } },
    reason: /its sha256 is [0-9a-f]{64}, but .*kubectl\.sha256 says/,
  },
  {
    name: "that ends early",
    spec: {
      files: {
        [kubectlPath]: program.repeat(100),
        [`${kubectlPath}.sha256`]: sha256(program.repeat(100)),
      },
      cutAfter: 100,
    },
    reason: /download .*kubectl: ended after \d+ bytes/,
  },
  {
    name: "without a checksum beside it",
    spec: { files: { [kubectlPath]: program } },
    reason: /kubectl\.sha256: the server answered 404/,
  },
  {
    name: "whose checksum file is something else",
    spec: { files: { [kubectlPath]: program, [`${kubectlPath}.sha256`]: "<html>log in</html>" } },
    reason: /states no sha256 of kubectl/,
  },
  { name: "from a publisher that cannot be reached", spec: {}, reason: /ECONNREFUSED/ },
];

for (const { name, spec, reason } of badDownloads) {
  test(`a download ${name} is refused, and the program is built`, async (t) => {
    const here = await machine(t, { ...spec, go: copyingGo });

    const { kubectl } = await here.ensure(["kubectl"]);

    assert.match(basename(join(kubectl, "..")), /^kubectl-v1\.36\.3-linux-amd64-[0-9a-f]{12}$/);
    const building = here.progress.find((one) => one.phase === "building");
    assert.match(building?.detail ?? "", reason);
    assert.equal((await cacheOf(here)).length, 1, "nothing half-made and no lock is left");
  });
}

test("one error names everything that is missing and what to do when there is no download and no Go", async (t) => {
  const here = await machine(t, {});

  await assert.rejects(here.ensure(["helm", "kwok"]), (error) => {
    assert.ok(error instanceof AppError);
    assert.equal(error.code, "BINARY_UNAVAILABLE");
    assert.match(error.message, /helm v4\.3\.1: download http.*ECONNREFUSED/);
    assert.match(error.message, /kwok v0\.8\.0: its publisher has no checked download/);
    assert.match(error.message, /install Go 1\.26 or newer/);
    return true;
  });
});

const badBuilds: readonly {
  readonly name: string;
  readonly go: string;
  readonly message: RegExp;
}[] = [
  {
    name: "that is killed",
    go: 'echo half > "$output"; kill -9 $$',
    message: /^go build of kwok was ended by SIGKILL, [^\n]*$/,
  },
  {
    name: "whose compiler is killed",
    go: 'echo "compile: signal: killed" >&2; exit 1',
    message: /^go build of kwok was ended by killed, [^\n]*$/,
  },
  {
    name: "on a full disk",
    go: 'echo "write /tmp/x: no space left on device" >&2; exit 1',
    message:
      /^go build of kwok: the disk is full \(write \/tmp\/x: no space left on device\); [^\n]*$/,
  },
  {
    name: "that fails",
    go: 'echo "go: module lookup disabled" >&2; exit 1',
    message: /^go build of kwok ended with code 1:\ngo: module lookup disabled$/,
  },
];

for (const { name, go, message } of badBuilds) {
  test(`a build ${name} is one clear error and leaves nothing`, async (t) => {
    const here = await machine(t, { go });

    await assert.rejects(here.ensure(["kwok"]), { message });
    assert.deepEqual(await cacheOf(here), []);
  });
}

test("what a killed program left half-made is removed by the next build", async (t) => {
  const here = await machine(t, { go: copyingGo });
  const { kwok } = await here.ensure(["kwok"]);
  const entry = basename(join(kwok, ".."));
  const again = await machine(t, { go: copyingGo });
  await mkdir(join(again.config.cacheDir, "half", `${entry}.dead`), { recursive: true });

  await again.ensure(["kwok"]);

  assert.deepEqual(await cacheOf(again), [entry]);
});

test("two processes that need the same program build it once", async (t) => {
  const here = await machine(t, {
    go: `echo build >> "$(dirname "$output")/../../builds"; sleep 0.3; ${copyingGo}`,
  });
  await mkdir(here.config.cacheDir, { recursive: true });
  const code = `
    const { ensureBinaries } = await import(${JSON.stringify(new URL("./ensure-binaries.ts", import.meta.url).href)});
    const config = ${JSON.stringify({ ...here.config, downloads: false })};
    await ensureBinaries(["kwok"], { config, platform: ${JSON.stringify(platform)}, progress: (one) => console.log(one.phase) });
  `;
  const run = async (): Promise<string> => {
    const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    t.onTestFinished(() => void child.kill("SIGKILL"));
    let said = "";
    child.stdout.on("data", (chunk: Buffer) => {
      said += chunk.toString();
    });
    const [exitCode] = await once(child, "close");
    assert.equal(exitCode, 0);
    return said;
  };

  const said = await Promise.all([run(), run()]);

  assert.equal(await readFile(join(here.config.cacheDir, "builds"), "utf8"), "build\n");
  assert.deepEqual(said.map((one) => one.trim().split("\n").at(-1)).sort(), ["found", "ready"]);
});

test("Go builds a real program from a pinned module", async (t) => {
  const config = readLocalConfig();
  if (!(await hasGo({ environment: config.environment })))
    return t.skip("there is no Go on this machine");
  const dir = await testDir(t);
  await writeFile(join(dir, "go.mod"), "module example.test/hello\n\ngo 1.21\n");
  await writeFile(join(dir, "go.sum"), "");
  await writeFile(
    join(dir, "main.go"),
    'package main\n\nvar version = "none"\n\nfunc main() { println(version) }\n',
  );
  const hello = {
    ...tools.kwok,
    build: {
      dir,
      module: "example.test/hello",
      package: "example.test/hello",
      ldflags: ["-X main.version=v9"],
      expectedSeconds: 1,
    },
  };
  const options = {
    config: { ...config, path: [], downloads: false },
    cacheDir: join(dir, "cache"),
    tools: { ...tools, kwok: hello },
  };

  const { kwok } = await ensureBinaries(["kwok"], options);
  const { stderr } = await promisify(execFile)(kwok);

  assert.equal(stderr, "v9\n");
});

test("another pin is another entry of the cache", async (t) => {
  const here = await machine(t, { go: copyingGo });
  const options = { config: here.config, platform };
  const other = { ...tools.kwok, build: { ...tools.kwok.build, ldflags: ["-X main.changed=1"] } };

  const first = await ensureBinaries(["kwok"], options);
  const second = await ensureBinaries(["kwok"], { ...options, tools: { ...tools, kwok: other } });

  assert.notEqual(first.kwok, second.kwok);
});
