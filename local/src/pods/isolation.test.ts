import assert from "node:assert/strict";
import { test } from "vitest";
import { type Entry, enter } from "./isolation.ts";

const entry: Entry = {
  command: {
    argv: [
      "/usr/bin/node",
      "/opt/flotilla/bin/flotilla-agent.js",
      "--data-dir=/var/lib/flotilla",
      "--probe=http://hub.flotilla-system.svc:8081/readyz",
      "--level=/info",
    ],
    environment: { PATH: "/usr/bin", NODE_EXTRA_CA_CERTS: "/etc/flotilla/ca/ca.crt" },
  },
  image: {
    dir: "/cache/agent",
    entrypoint: [],
    environment: {},
    user: 65_532,
    group: 65_532,
    workingDir: "/tmp",
  },
  mounts: [
    { source: "/work/data", target: "/var/lib/flotilla" },
    { source: "/work/it's/ca", target: "/etc/flotilla/ca" },
  ],
  scratch: "/work/root",
  isReadOnly: true,
  kubeconfig: "/work/kubeconfig",
  hosts: new Map([["hub.flotilla-system.svc", "127.64.0.1"]]),
};

test("in a mount namespace the command is that of the pod, as its user in a read-only tree", () => {
  const { argv, environment } = enter(entry, { kind: "mount namespace" });
  const script = argv[5] ?? "";

  assert.deepEqual(argv.slice(0, 3), ["unshare", "--mount", "--propagation=private"]);
  assert.deepEqual(argv.slice(-5), entry.command.argv);
  assert.deepEqual(environment, entry.command.environment);
  assert.match(script, /lowerdir='\/cache\/agent'/);
  assert.match(
    script,
    /mount --bind '\/work\/it'\\''s\/ca' '\/work\/root\/root\/etc\/flotilla\/ca'/,
  );
  assert.match(script, /remount,ro root\nexec .* --setgid=65532 --setuid=65532 -- "\$@"$/);
});

test("a plain process gets the paths of this machine, a kubeconfig and addresses for names", () => {
  const isolation = { kind: "plain process", reason: "only root may" } as const;

  assert.deepEqual(enter(entry, isolation), {
    argv: [
      "/cache/agent/usr/bin/node",
      "/cache/agent/opt/flotilla/bin/flotilla-agent.js",
      "--data-dir=/work/data",
      "--probe=http://127.64.0.1:8081/readyz",
      "--level=/info",
    ],
    environment: {
      PATH: "/cache/agent/usr/bin",
      NODE_EXTRA_CA_CERTS: "/work/it's/ca/ca.crt",
      KUBECONFIG: "/work/kubeconfig",
    },
  });
});
