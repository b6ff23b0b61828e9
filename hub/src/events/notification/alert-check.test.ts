import assert from "node:assert/strict";
import type { AlertSpec, Provider } from "@flotilla/shared/flux";
import { describe, test } from "vitest";
import { alertProblems } from "./alert-check.ts";

const web = { metadata: { namespace: "prod", name: "web", labels: { team: "a" } } };
const chat: Provider = { metadata: { name: "chat" }, spec: { type: "generic" } };

function problems(
  eventSources: AlertSpec["eventSources"],
  more: { readonly provider?: Provider | undefined; readonly suspend?: boolean } = {
    provider: chat,
  },
): Promise<readonly string[]> {
  return alertProblems({
    alert: {
      metadata: { namespace: "prod", name: "on-call" },
      spec: {
        ...{ eventSeverity: "info", providerRef: { name: "chat" }, eventSources },
        ...(more.suspend === true && { suspend: true }),
      },
    },
    provider: more.provider,
    crossNamespace: false,
    objectsOf(kind) {
      const objects = kind === "HelmOp" ? [web] : kind === "Bundle" ? [] : undefined;
      return (
        objects && {
          find: (namespace, name) =>
            objects.filter(
              ({ metadata }) =>
                [metadata.namespace, "*"].includes(namespace) &&
                [metadata.name, "*"].includes(name),
            ),
        }
      );
    },
  });
}

describe("an Alert", () => {
  for (const [what, source, expected] of [
    ["selects an object", { kind: "HelmOp", name: "*" }, []],
    ["selects one by labels", { kind: "HelmOp", name: "*", matchLabels: { team: "a" } }, []],
    [
      "selects none of another name",
      { kind: "HelmOp", name: "api" },
      ["selects no object: HelmOp prod/api: there is no such object"],
    ],
    [
      "selects none of other labels",
      { kind: "HelmOp", name: "*", matchLabels: { team: "b" } },
      ["selects no object: HelmOp prod/*: there is no such object with its matchLabels"],
    ],
    [
      "selects none of a kind without objects",
      { kind: "Bundle", name: "*" },
      ["selects no object: Bundle prod/*: there is no such object"],
    ],
    [
      "names a kind that is not installed",
      { kind: "Bucket", name: "*" },
      ["selects no object: Bucket prod/*: the kind Bucket is not installed"],
    ],
    [
      "names a kind without a controller",
      { kind: "Kustomization", name: "*" },
      [
        "selects no object: Kustomization prod/*: this hub has no controller of the kind Kustomization",
      ],
    ],
    [
      "names another namespace",
      { kind: "HelmOp", name: "*", namespace: "staging" },
      [
        "selects no object: HelmOp staging/*: references to other namespaces are not allowed (see flux.crossNamespaceReferences of the hub's chart)",
      ],
    ],
  ] as const)
    test(what, async () => {
      assert.deepEqual(await problems([source]), expected);
    });

  test("says which of its sources select nothing", async () => {
    assert.deepEqual(
      await problems([
        { kind: "HelmOp", name: "*" },
        { kind: "HelmOp", name: "api" },
      ]),
      ["some sources select no object: HelmOp prod/api: there is no such object"],
    );
  });

  test("without sources selects nothing", async () => {
    assert.deepEqual(await problems([]), ["selects no object: it has no eventSources"]);
  });

  const good = [{ kind: "HelmOp", name: "*" }] as const;
  for (const [what, provider, expected] of [
    ["without its Provider", undefined, /^the Provider chat does not exist in this namespace$/],
    [
      "with a suspended Provider",
      { ...chat, spec: { type: "generic", suspend: true } },
      /is suspended$/,
    ],
    [
      "with a Provider that is not supported",
      { ...chat, spec: { type: "zulip" } },
      /^providers of type zulip/,
    ],
  ] as const)
    test(`${what} says so`, async () => {
      assert.match((await problems(good, { provider }))[0] ?? "", expected);
    });

  test("that is suspended says nothing", async () => {
    assert.deepEqual(await problems([], { provider: undefined, suspend: true }), []);
  });
});
