import assert from "node:assert/strict";
import type { AccessFrom } from "@flotilla/shared/flux";
import { describe, test } from "vitest";
import {
  accessFromAnnotation,
  isShared,
  type SecretSource,
  sharingProblem,
} from "./shared-sources.ts";

const labels = { "kubernetes.io/metadata.name": "apps", team: "a" };
const byName: AccessFrom = {
  namespaceSelectors: [{ matchLabels: { "kubernetes.io/metadata.name": "apps" } }],
};

function source(accessFrom?: AccessFrom, annotation?: string): SecretSource {
  const annotations = annotation === undefined ? {} : { [accessFromAnnotation]: annotation };
  const metadata = { namespace: "infra", name: "charts", annotations };
  return { kind: "HelmRepository", metadata, accessFrom };
}

const own: SecretSource = { ...source(), metadata: { namespace: "apps", name: "charts" } };

describe("a source with Secrets may be used", () => {
  const rows: readonly (readonly [what: string, source: SecretSource])[] = [
    ["in its own namespace", own],
    ["by a namespace that it selects by name", source(byName)],
    [
      "by a namespace that another selector selects",
      source({
        namespaceSelectors: [{ matchLabels: { team: "b" } }, { matchLabels: { team: "a" } }],
      }),
    ],
    ["by every namespace with a selector without labels", source({ namespaceSelectors: [{}] })],
    [
      "by what its annotation selects, where the kind has no field",
      source(undefined, JSON.stringify(byName)),
    ],
  ];
  for (const [what, each] of rows)
    test(what, () => assert.equal(sharingProblem("apps", labels, [each]), undefined));
});

describe("a source with Secrets may not be used by another namespace", () => {
  const rows: readonly (readonly [what: string, source: SecretSource, RegExp])[] = [
    ["without accessFrom", source(), /and it does not say which namespaces may use it/],
    ["that no selector selects", source({ namespaceSelectors: [] }), /does not select that/],
    [
      "that has only some of the labels",
      source({ namespaceSelectors: [{ matchLabels: { team: "a", tier: "b" } }] }),
      /does not select that/,
    ],
    ["with an annotation that is not JSON", source(undefined, "apps"), /annotation .* is not JSON/],
    ["with an annotation of another form", source(byName, '["apps"]'), /annotation .* is not JSON/],
    [
      "that the annotation does not select, whatever the field says",
      source(byName, '{"namespaceSelectors":[]}'),
      /does not select/,
    ],
  ];
  for (const [what, each, message] of rows)
    test(what, () => {
      const problem = sharingProblem("apps", labels, [own, each]);

      assert.equal(problem?.code, "ACCESS_DENIED");
      assert.match(
        problem.message,
        /^HelmRepository infra\/charts has Secrets, which would be sent/,
      );
      assert.match(problem.message, message);
    });

  test("whose labels are unknown", () =>
    assert.equal(sharingProblem("apps", {}, [source(byName)])?.code, "ACCESS_DENIED"));
});

test("the labels of the namespace are needed only for sources of other namespaces", () => {
  assert.equal(isShared("apps", [own]), false);
  assert.equal(isShared("apps", [own, source()]), true);
});
