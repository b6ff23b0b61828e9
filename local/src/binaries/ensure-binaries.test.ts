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
import { AppError } from "@flotilla/shared/errors";
import { pack } from "tar-stream";
import { type TestContext, test } from "vitest";
import { type LocalConfig, readLocalConfig } from "../config.ts";
import { testDir } from "../testing/index.ts";
import { ensureBinaries } from "./ensure-binaries.ts";
import { hasGo } from "./go-build.ts";
import type { BinaryProgress } from "./progress.ts";
import { type ToolName, tools } from "./tools.ts";

const platform = { os: "linux", arch: "amd64" } as const;
const program = "#!/bin/sh\necho fake\n";

/** A machine with a mirror and a fake `go`. */
interface Machine {
  readonly dir: string;
  readonly config: LocalConfig;
  /** Paths requested from the mirror. */
  readonly requests: string[];
  readonly progress: BinaryProgress[];
  ensure<N extends ToolName>(names: readonly N[]): Promise<Readonly<Record<N, string>>>;
}

interface MachineSpec {
  /** Files on the mirror; `undefined`: no mirror can be reached. */
  readonly files?: Readonly<Record<string, Buffer | string>>;
  /** Truncates responses after this many bytes. */
  readonly cutAfter?: number;
  /** Shell code of `go build` with the output path in $output; Go is not installed when absent. */
  readonly go?: string;
}

async function machine(t: TestContext, spec: MachineSpec): Promise<Machine> {
  const dir = await testDir(t);
  const requests: string[] = [];
  const base = spec.files === undefined ? "http://127.0.0.1:1" : await serve(t, spec, requests);
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
    requests,
    progress,
    ensure: (names) =>
      ensureBinaries(names, { config: own, platform, progress: (one) => progress.push(one) }),
  };
}

async function serve(t: TestContext, spec: MachineSpec, requests: string[]): Promise<string> {
  const server = createServer((request, response) => {
    const path = (request.url ?? "").slice(1);
    requests.push(path);
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
  return [...(await read("bin")), ...(await read("staging")), ...(await read("locks"))];
}

test("downloads a program with a matching checksum, and finds it in the cache afterwards", async (t) => {
  const host = await machine(t, {
    files: { [kubectlPath]: program, [`${kubectlPath}.sha256`]: sha256(program) },
  });

  const first = await host.ensure(["kubectl"]);
  const second = await host.ensure(["kubectl"]);

  assert.equal(await readFile(first.kubectl, "utf8"), program);
  await access(first.kubectl, 1);
  assert.deepEqual(second, first);
  assert.equal(host.requests.length, 2);
  assert.deepEqual(await cacheOf(host), ["kubectl-v1.36.3-linux-amd64"]);
  assert.deepEqual(
    [...new Set(host.progress.map((one) => one.phase))],
    ["downloading", "ready", "found"],
  );
});

test("unpacks a program from an archive", async (t) => {
  const archive = pack();
  archive.entry({ name: "linux-amd64/README.md" }, "text");
  archive.entry({ name: "linux-amd64/helm", mode: 0o755 }, program);
  archive.finalize();
  const bytes = gzipSync(await buffer(archive));
  const name = "helm-v4.3.1-linux-amd64.tar.gz";
  const host = await machine(t, {
    files: { [name]: bytes, [`${name}.sha256sum`]: `${sha256(bytes)}  ${name}\n` },
  });

  const { helm } = await host.ensure(["helm"]);

  assert.equal(await readFile(helm, "utf8"), program);
  assert.deepEqual(await cacheOf(host), ["helm-v4.3.1-linux-amd64"]);
});

const badDownloads: readonly {
  readonly name: string;
  readonly spec: MachineSpec;
  readonly reason: RegExp;
}[] = [
  {
    name: "has a wrong checksum",
    spec: { files: { [kubectlPath]: program, [`${kubectlPath}.sha256`]: sha256("else") } },
    reason: /checksum mismatch: downloaded sha256:[0-9a-f]{64}, .*kubectl\.sha256 has/,
  },
  {
    name: "is truncated",
    spec: {
      files: {
        [kubectlPath]: program.repeat(100),
        [`${kubectlPath}.sha256`]: sha256(program.repeat(100)),
      },
      cutAfter: 100,
    },
    reason: /download .*kubectl: interrupted after \d+ bytes/,
  },
  {
    name: "has no checksum file",
    spec: { files: { [kubectlPath]: program } },
    reason: /kubectl\.sha256: HTTP status 404/,
  },
  {
    name: "has an HTML page as checksum file",
    spec: { files: { [kubectlPath]: program, [`${kubectlPath}.sha256`]: "<html>log in</html>" } },
    reason: /no sha256 of kubectl found/,
  },
  { name: "is not reachable", spec: {}, reason: /ECONNREFUSED/ },
];

for (const { name, spec, reason } of badDownloads) {
  test(`builds a program if the download ${name}`, async (t) => {
    const host = await machine(t, { ...spec, go: copyingGo });

    const { kubectl } = await host.ensure(["kubectl"]);

    assert.match(basename(join(kubectl, "..")), /^kubectl-v1\.36\.3-linux-amd64-[0-9a-f]{12}$/);
    const building = host.progress.find((one) => one.phase === "building");
    assert.match(building?.detail ?? "", reason);
    assert.equal((await cacheOf(host)).length, 1, "no staging folder and no lock remain");
  });
}

test("names all missing programs in one error without downloads and Go", async (t) => {
  const host = await machine(t, {});

  await assert.rejects(host.ensure(["helm", "kwok"]), (error) => {
    assert.ok(error instanceof AppError);
    assert.equal(error.code, "BINARY_UNAVAILABLE");
    assert.match(error.message, /helm v4\.3\.1: download http.*ECONNREFUSED/);
    assert.match(error.message, /kwok v0\.8\.0: no download with a checksum/);
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
    go: 'echo partial > "$output"; kill -9 $$',
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
    message: /^go build of kwok exited with code 1:\ngo: module lookup disabled$/,
  },
];

for (const { name, go, message } of badBuilds) {
  test(`a build ${name} fails with one error and leaves no files`, async (t) => {
    const host = await machine(t, { go });

    await assert.rejects(host.ensure(["kwok"]), { message });
    assert.deepEqual(await cacheOf(host), []);
  });
}

test("deletes the staging folder that a killed process left", async (t) => {
  const host = await machine(t, { go: copyingGo });
  const { kwok } = await host.ensure(["kwok"]);
  const entry = basename(join(kwok, ".."));
  const second = await machine(t, { go: copyingGo });
  await mkdir(join(second.config.cacheDir, "staging", `${entry}.dead`), { recursive: true });

  await second.ensure(["kwok"]);

  assert.deepEqual(await cacheOf(second), [entry]);
});

test("two processes build a program once", async (t) => {
  const host = await machine(t, {
    go: `echo build >> "$(dirname "$output")/../../builds"; read go_on < "$(dirname "$output")/../../go-on"; ${copyingGo}`,
  });
  await mkdir(host.config.cacheDir, { recursive: true });
  // The build of the first process continues when the second one waits for it.
  const goOn = join(host.config.cacheDir, "go-on");
  await promisify(execFile)("mkfifo", [goOn]);
  const code = `
    const { ensureBinaries } = await import(${JSON.stringify(new URL("./ensure-binaries.ts", import.meta.url).href)});
    const config = ${JSON.stringify({ ...host.config, downloads: false })};
    await ensureBinaries(["kwok"], { config, platform: ${JSON.stringify(platform)}, progress: (one) => console.log(one.phase) });
  `;
  const run = async (): Promise<string> => {
    const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    t.onTestFinished(() => void child.kill("SIGKILL"));
    let printed = "";
    child.stdout.on("data", (chunk: Buffer) => {
      printed += chunk.toString();
      if (printed.endsWith("waiting\n")) void writeFile(goOn, "on\n");
    });
    const [exitCode] = await once(child, "close");
    assert.equal(exitCode, 0);
    return printed;
  };

  const outputs = await Promise.all([run(), run()]);

  assert.equal(await readFile(join(host.config.cacheDir, "builds"), "utf8"), "build\n");
  assert.deepEqual(outputs.map((one) => one.trim().split("\n").at(-1)).sort(), ["found", "ready"]);
});

test("Go builds a real program from a pinned module", async (t) => {
  const config = readLocalConfig();
  if (!(await hasGo({ environment: config.environment }))) return t.skip("Go is not installed");
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

test("a program of this repository has a cache entry for its sources, without their tests", async (t) => {
  const host = await machine(t, { go: copyingGo });
  const dir = join(host.dir, "sources");
  await mkdir(dir);
  await writeFile(join(dir, "go.mod"), "module example.test/own\n");
  const own = { ...tools.confine, build: { ...tools.confine.build, dir } };
  const ensure = async (file: string, text: string): Promise<string> => {
    await writeFile(join(dir, file), text);
    const progress = (one: BinaryProgress) => host.progress.push(one);
    const all = { ...tools, confine: own };
    const options = { config: host.config, platform, progress, tools: all };
    return (await ensureBinaries(["confine"], options)).confine;
  };

  const first = await ensure("main.go", "package main\n");

  assert.equal(await ensure("main_test.go", "package main\n"), first);
  assert.notEqual(await ensure("main.go", "package main\n\n"), first);
  assert.match(host.progress.find(({ phase }) => phase === "building")?.detail ?? "", /repository/);
});

test("a changed build configuration has its own cache entry", async (t) => {
  const host = await machine(t, { go: copyingGo });
  const options = { config: host.config, platform };
  const other = { ...tools.kwok, build: { ...tools.kwok.build, ldflags: ["-X main.changed=1"] } };

  const first = await ensureBinaries(["kwok"], options);
  const second = await ensureBinaries(["kwok"], { ...options, tools: { ...tools, kwok: other } });

  assert.notEqual(first.kwok, second.kwok);
});
