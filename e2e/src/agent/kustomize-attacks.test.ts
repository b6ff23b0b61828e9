/**
 * Kustomizations that try to get out, with the real kustomize and its own checks switched off. Each attack succeeds without the
 * sandbox, so that its denial says something.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readdir, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import {
  openSandbox,
  runInSandbox,
  type Sandbox,
  type SandboxResult,
} from "@flotilla/agent/sandbox";
import { ensureBinaries } from "@flotilla/local/binaries";
import { testDir } from "@flotilla/local/testing";
import { silentLog } from "@flotilla/shared/log";
import { afterAll, describe, test } from "vitest";

const { kustomize, confine } = await ensureBinaries(["kustomize", "confine"]);
const dir = await testDir({ onTestFinished: afterAll });
const secret = `planted-${crypto.randomUUID()}`;
const environment = { TOKEN: secret };
const unconfined = { kind: "unconfined" } as const;
const sandbox = await openSandbox({
  launcher: confine,
  environment,
  program: "kustomize",
  least: "Unconfined",
  log: silentLog(),
});

/** In another folder of the agent. */
const secretFile = join(dir, "identity", "token");
await mkdir(dirname(secretFile));
await writeFile(secretFile, secret);

/** Stands for the agent: its environment has a secret. */
const agent = spawn("sleep", ["600"], { env: { PATH: process.env["PATH"], TOKEN: secret } });
await once(agent, "spawn");
afterAll(() => agent.kill());

const leak = JSON.stringify({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "leak" },
  data: { leak: secret },
});
let connections = 0;
const server = createServer((_, response) => response.end(leak)).on(
  "connection",
  () => connections++,
);
server.listen(0, "127.0.0.1");
await once(server, "listening");
afterAll(() => void server.close());
const { port } = server.address() as AddressInfo;

/** A program that prints an object with the secret. `version` is what kustomize asks of Helm first. */
const program = `#!/bin/sh\n[ "$1" = version ] && echo v3.19.0 || echo '${leak}'\n`;

interface Attack {
  readonly what: string;
  readonly kustomization: object;
  /** Besides the kustomization. */
  readonly files?: Readonly<Record<string, string>>;
  /** A symbolic link of the tree, and where it leads. */
  readonly link?: readonly [name: string, target: string];
  /** What is found in the result if it succeeds; default: the secret. */
  readonly found?: string;
  readonly denied: RegExp;
}

const fileOf = (path: string) => ({ secretGenerator: [{ name: "leak", files: [`leak=${path}`] }] });
const attacks: readonly Attack[] = [
  {
    what: "a generator that reads a file of another folder of the agent",
    kustomization: fileOf("../../identity/token"),
    denied: /identity\/token: permission denied/,
  },
  {
    what: "a generator that reads /etc/passwd",
    kustomization: fileOf("/etc/passwd"),
    found: "root:",
    denied: /\/etc\/passwd: permission denied/,
  },
  {
    what: "a generator that reads the environment of kustomize",
    kustomization: fileOf("/proc/self/environ"),
    denied: /\/proc\/(self|\d+)\/environ: permission denied/,
  },
  {
    what: "a generator that reads the environment of the agent",
    kustomization: fileOf(`/proc/${agent.pid}/environ`),
    denied: /\/proc\/\d+\/environ: permission denied/,
  },
  {
    what: "a link in the tree to a file outside",
    kustomization: fileOf("link"),
    link: ["link", secretFile],
    denied: /link: permission denied/,
  },
  {
    what: "a link in the tree to a folder outside",
    kustomization: fileOf("link/token"),
    link: ["link", dirname(secretFile)],
    denied: /link\/token: permission denied/,
  },
  {
    what: "a resource outside of the tree",
    kustomization: { resources: ["../../identity/leak.yaml"] },
    denied: /identity\/leak\.yaml.*permission denied/s,
  },
  {
    what: "an exec plugin",
    kustomization: { generators: ["plugin.yaml"] },
    files: {
      "plugin.yaml": JSON.stringify({
        apiVersion: "example.com/v1",
        kind: "Leak",
        metadata: {
          name: "leak",
          annotations: { "config.kubernetes.io/function": "exec: {path: ./program}" },
        },
      }),
      program,
    },
    denied: /exec \.\/program: permission denied/,
  },
  {
    what: "a Helm chart",
    kustomization: { helmCharts: [{ name: "app", releaseName: "app" }] },
    files: {
      "charts/app/Chart.yaml": "{apiVersion: v2, name: app, version: 1.0.0}",
      "charts/app/values.yaml": "{}",
      program,
    },
    // For the standard input of Helm, before it would be executed.
    denied: /\/dev\/null: permission denied/,
  },
  {
    what: "a resource from a server on loopback",
    kustomization: { resources: [`http://127.0.0.1:${port}/leak.yaml`] },
    denied: /socket: permission denied/,
  },
];
await writeFile(join(dirname(secretFile), "leak.yaml"), leak);

/** With all that kustomize forbids by default. */
async function build(attack: Attack, how: Sandbox): Promise<SandboxResult> {
  const parent = await mkdtemp(join(dir, "run-"));
  const tree = join(parent, "tree");
  await mkdir(tree);
  const files = { ...attack.files, "kustomization.yaml": JSON.stringify(attack.kustomization) };
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(tree, name)), { recursive: true });
    await writeFile(join(tree, name), text);
    if (name === "program") await chmod(join(tree, name), 0o755);
  }
  if (attack.link !== undefined) await symlink(attack.link[1], join(tree, attack.link[0]));
  const args = [
    ...["build", "--load-restrictor=LoadRestrictionsNone", "--enable-alpha-plugins"],
    ...["--enable-exec", "--enable-helm", `--helm-command=${join(tree, "program")}`, "."],
  ];
  const result = await runInSandbox(how, { program: kustomize, args, tree, parent, environment });
  assert.deepEqual(await readdir(parent), ["tree"], "nothing else is left");
  return result;
}

/** With the texts that kustomize has encoded. */
function textOf(result: SandboxResult): string {
  assert.equal(result.kind, "ended");
  const { stdout, stderr } = result;
  const encoded = stdout.replaceAll(/\n {4}/g, "").matchAll(/leak: (?:\|)?([\w+/=]+)$/gm);
  const decoded = [...encoded].map(([, text = ""]) => Buffer.from(text, "base64").toString());
  return [stdout, stderr, ...decoded].join("\n");
}

describe.runIf(sandbox.kind === "confined")("in the sandbox kustomize is denied", () => {
  for (const attack of attacks)
    test(attack.what, async () => {
      const before = connections;

      const result = await build(attack, sandbox);

      const text = textOf(result);
      assert.match(text, attack.denied);
      assert.ok(result.kind === "ended" && result.failure === "ended with code 1", text);
      assert.ok(!text.includes(attack.found ?? secret), text);
      assert.equal(connections, before);
    });
});

describe("without the sandbox kustomize does", () => {
  for (const attack of attacks)
    test(attack.what, async () => {
      const text = textOf(await build(attack, unconfined));

      assert.ok(text.includes(attack.found ?? secret), text);
    });
});
