import assert from "node:assert/strict";
import type { BundleDeploymentOptions } from "@flotilla/shared/api";
import { describe, test } from "vitest";
import { createCheckedTexts } from "./checked-texts.ts";
import { postRendererProblem } from "./post-renderers.ts";

function problemOf(patch: string, target?: object): string | undefined {
  return problemIn([{ kustomize: { patches: [{ patch, target }] } }]);
}

function problemIn(postRenderers: BundleDeploymentOptions["postRenderers"]): string | undefined {
  return postRendererProblem({ postRenderers }, createCheckedTexts());
}

const object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
const target = { kind: "ConfigMap" };

describe("a patch is valid", () => {
  const cases = [
    ["that is a strategic merge patch", object, undefined],
    ["that is one in JSON", '{"kind": "ConfigMap", "metadata": {"name": "a"}}', undefined],
    ["that is one beside a target", object, target],
    ["that has several objects", `---\n${object}---\n${object}`, undefined],
    ["that deletes an object", `${object}$patch: delete\n`, undefined],
    ["that is a JSON patch in YAML", "- op: remove\n  path: /data\n", target],
    ["that is a JSON patch", ' [{"op": "add", "path": "/data", "value": {}}]', target],
    ["that is a JSON patch for all objects", "- {op: test, path: /kind, value: Pod}", {}],
  ] as const;
  for (const [what, patch, over] of cases)
    test(what, () => assert.equal(problemOf(patch, over), undefined));

  test("that appears twice", () => {
    const patches = [{ patch: object }, { patch: object }];

    assert.equal(problemIn([{ kustomize: { patches } }, {}]), undefined);
  });
});

describe("a patch is rejected", () => {
  const cases = [
    ["that is empty", "---\n \n", undefined, /patch is empty$/],
    ["that is not YAML", "a: [", target, /patch is neither YAML nor JSON: read it, line 1/],
    ["that is a text", "hello", target, /patch is not a patch: write a list of JSON patch/],
    ["without a kind", "metadata: {name: a}", target, /with kind and metadata\.name/],
    ["without a name", "kind: ConfigMap\ndata: {}", target, /with kind and metadata\.name/],
    ["with several objects beside a target", `${object}---\n${object}`, target, /several objects/],
    ["with an unknown operation", "- {op: merge, path: /a}", target, /op, which is one of add,/],
    ["with an operation without a path", "- op: remove", target, /each operation needs path/],
    [
      "that is a JSON patch without a target",
      "- {op: remove, path: /a}",
      undefined,
      /set a target/,
    ],
    ["that is YAML and begins as JSON", "[{op: remove, path: /a}]", target, /begins with \[/],
  ] as const;
  for (const [what, patch, over, message] of cases)
    test(what, () => assert.match(problemOf(patch, over) ?? "", message));

  test("by the path of its field, and without its text", () => {
    const problem = problemIn([
      {},
      { kustomize: { patches: [{ patch: object }, { patch: "password: [" }] } },
    ]);

    assert.match(problem ?? "", /^postRenderers\[1\]\.kustomize\.patches\[1\]\.patch is neither/);
    assert.ok(!problem?.includes("password"));
  });
});

test("the same patch beside a target and without one is validated as each", () => {
  const patch = "- {op: remove, path: /data}";
  const patches = [{ patch, target }, { patch }];

  assert.match(
    problemIn([{ kustomize: { patches } }]) ?? "",
    /patches\[1\]\.patch is a JSON patch/,
  );
});

test("patches beyond 16 KiB are left to kustomize", () => {
  const patches = [{ patch: `${object}data: {a: ${"a".repeat(16 * 1024)}}` }, { patch: "hello" }];

  assert.equal(problemIn([{ kustomize: { patches } }]), undefined);
});
