import assert from "node:assert/strict";
import { test } from "vitest";
import { aHelmOp } from "../testing/objects.ts";
import { unknownFieldRemarks } from "./unknown-fields.ts";

/** As the API server hands it over, whatever a type says. */
function remarksOn(spec: object): readonly string[] {
  return unknownFieldRemarks(aHelmOp(spec));
}

test("nothing is said of fields that are known", () => {
  assert.deepEqual(remarksOn({ pollingInterval: "5m", helm: { values: { any: "thing" } } }), []);
});

test("a field that nobody reads is named, with the one that was probably meant", () => {
  assert.deepEqual(remarksOn({ helm: { vesion: "1.2.3" }, driftwood: 1 }), [
    "unknown field spec.helm.vesion has no effect, did you mean spec.helm.version?",
    "unknown field spec.driftwood has no effect",
  ]);
});

test("a long list is cut, and says by how much", () => {
  const spec = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`zz${at}`, at]));

  const remarks = remarksOn(spec);

  assert.equal(remarks.length, 6);
  assert.equal(remarks.at(-1), "45 more unknown fields have no effect");
});
