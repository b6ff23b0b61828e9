import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { type CommandContext, ContainerConfigError, commandOf } from "./container.ts";
import type { Container, Pod } from "./resources.ts";

const pod: Pod = {
  metadata: { namespace: "shop", name: "web-1", uid: "u1" },
  spec: { containers: [], serviceAccountName: "web", nodeName: "n1" },
};

function context(changes: Partial<CommandContext> = {}): CommandContext {
  return {
    pod,
    podIp: "127.64.0.1",
    image: {
      entrypoint: ["/bin/app"],
      environment: { PATH: "/usr/bin", HOME: "/tmp" },
      user: 1,
      group: 1,
      workingDir: "/",
    },
    sources: {
      secret: (name) => (name === "keys" ? { token: "t0ken" } : undefined),
      configMap: (name) => (name === "settings" ? { level: "info" } : undefined),
    },
    apiServer: "127.0.0.1:6443",
    ...changes,
  };
}

function container(changes: Partial<Container>): Container {
  return { name: "web", ...changes };
}

describe("the command of a container", () => {
  test("is the entrypoint of its image with the arguments of the pod", () => {
    const { argv } = commandOf(container({ args: ["--fast"] }), context());

    assert.deepEqual(argv, ["/bin/app", "--fast"]);
  });

  test("is that of the pod where the pod has one", () => {
    const { argv } = commandOf(container({ command: ["/bin/other"] }), context());

    assert.deepEqual(argv, ["/bin/other"]);
  });

  test("has the values of variables, and keeps what is escaped or unknown", () => {
    const spec = container({
      env: [{ name: "LEVEL", value: "info" }],
      args: ["--level=$(LEVEL)", "--as-is=$$(LEVEL)", "--unknown=$(OTHER)"],
    });

    assert.deepEqual(commandOf(spec, context()).argv.slice(1), [
      "--level=info",
      "--as-is=$(LEVEL)",
      "--unknown=$(OTHER)",
    ]);
  });
});

describe("the environment of a container", () => {
  test("has that of the image, the address of the API server and the name of the pod", () => {
    assert.deepEqual(commandOf(container({}), context()).environment, {
      PATH: "/usr/bin",
      HOME: "/tmp",
      KUBERNETES_SERVICE_HOST: "127.0.0.1",
      KUBERNETES_SERVICE_PORT: "6443",
      HOSTNAME: "web-1",
    });
  });

  test("has fields of the pod, keys of Secrets and of ConfigMaps", () => {
    const spec = container({
      env: [
        { name: "IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
        { name: "TOKEN", valueFrom: { secretKeyRef: { name: "keys", key: "token" } } },
        { name: "LEVEL", valueFrom: { configMapKeyRef: { name: "settings", key: "level" } } },
        { name: "NONE", valueFrom: { secretKeyRef: { name: "none", key: "x", optional: true } } },
      ],
    });

    const { environment } = commandOf(spec, context());

    assert.equal(environment["IP"], "127.64.0.1");
    assert.equal(environment["TOKEN"], "t0ken");
    assert.equal(environment["LEVEL"], "info");
    assert.ok(!("NONE" in environment));
  });

  for (const [what, name, key, message] of [
    ["Secret", "none", "token", "Secret none does not exist"],
    ["key", "keys", "other", "Secret keys has no key other"],
  ] as const)
    test(`without its ${what} is an error that names it`, () => {
      const spec = container({ env: [{ name: "X", valueFrom: { secretKeyRef: { name, key } } }] });

      assert.throws(() => commandOf(spec, context()), new ContainerConfigError(message));
    });
});
