import assert from "node:assert/strict";
import type { Pin } from "@flotilla/shared/source";
import { test } from "vitest";
import { digestA, digestB, httpPin } from "../../testing/index.ts";
import { choosePin } from "./choose-pin.ts";

function oci(version: string, layerDigest: string, manifestDigest = digestA): Pin {
  return {
    kind: "oci",
    version,
    repository: "oci://registry.example.com/web",
    tag: version,
    manifestDigest,
    layerDigest,
    layerSizeBytes: 1_000,
  };
}
const archive: Pin = { kind: "tarball", url: "https://x.example/a.tgz" };
const otherArchive: Pin = { kind: "tarball", url: "https://x.example/b.tgz" };
const moved: Pin = {
  kind: "http",
  version: "1.2.3",
  url: "https://cdn.example.com/x",
  digest: digestA,
};

const cases: readonly (readonly [
  what: string,
  known: Pin | undefined,
  fresh: Pin,
  chosen: "known" | "fresh",
  note?: RegExp,
])[] = [
  ["a first pin is used", undefined, httpPin("1.2.3"), "fresh"],
  ["a newer version is followed", httpPin("1.2.3"), httpPin("1.2.4"), "fresh"],
  ["a release after its prerelease is followed", httpPin("1.2.3-rc.1"), httpPin("1.2.3"), "fresh"],
  [
    "the same version with the same bytes changes nothing",
    httpPin("1.2.3"),
    httpPin("1.2.3"),
    "known",
  ],
  ["the same bytes at another address change nothing", httpPin("1.2.3"), moved, "known"],
  [
    "the same version with other bytes is reported and not followed",
    httpPin("1.2.3"),
    httpPin("1.2.3", digestB),
    "known",
    /1\.2\.3 was published again with other bytes \(sha256:b+ instead of sha256:a+\)/,
  ],
  ["a digest that appears is used", httpPin("1.2.3", null), httpPin("1.2.3"), "fresh"],
  ["a digest that disappears stays", httpPin("1.2.3"), httpPin("1.2.3", null), "known"],
  [
    "an older version is reported and not followed",
    httpPin("1.2.3"),
    httpPin("1.2.2"),
    "known",
    /the best match is now 1\.2\.2 at .*, which is older than 1\.2\.3; 1\.2\.3 stays deployed/,
  ],
  ["build metadata alone makes no version older", httpPin("1.2.3+b"), httpPin("1.2.3+a"), "fresh"],
  [
    "a chart that moved to a registry is followed",
    httpPin("1.2.3"),
    oci("1.2.4", digestB),
    "fresh",
  ],
  ["the same bytes in a registry change nothing", httpPin("1.2.3"), oci("1.2.3", digestA), "known"],
  [
    "other bytes are not followed into a registry",
    httpPin("1.2.3"),
    oci("1.2.3", digestB),
    "known",
    /other bytes/,
  ],
  [
    "an older version is not followed into a registry, nor out of it",
    oci("1.2.3", digestA),
    httpPin("1.2.2"),
    "known",
    /older than 1\.2\.3/,
  ],
  [
    "the same layer under another manifest changes nothing",
    oci("1.2.3", digestA),
    oci("1.2.3", digestA, digestB),
    "known",
  ],
  [
    "another layer under the same tag is reported and not followed",
    oci("1.2.3", digestA),
    oci("1.2.3", digestB),
    "known",
    /other bytes/,
  ],
  ["another archive is used", archive, otherArchive, "fresh"],
];

for (const [what, known, fresh, chosen, note] of cases) {
  test(what, () => {
    const choice = choosePin(known, fresh);

    assert.equal(choice.pin, chosen === "known" ? known : fresh);
    if (note === undefined) assert.equal(choice.note, undefined);
    else assert.match(choice.note ?? "", note);
  });
}

test("a pin that is not kept is replaced, by other bytes and by an older version", () => {
  const known = httpPin("1.2.3");
  for (const fresh of [httpPin("1.2.3", digestB), httpPin("1.2.2")]) {
    assert.deepEqual(choosePin(known, fresh, "none"), { pin: fresh });
  }
});

test("the same bytes at another address are followed after an agent could not fetch them", () => {
  assert.deepEqual(choosePin(httpPin("1.2.3"), moved, "unfetchable"), { pin: moved });
});

test("other bytes are not followed when an agent could not fetch the known ones", () => {
  const known = httpPin("1.2.3");
  assert.equal(choosePin(known, httpPin("1.2.3", digestB), "unfetchable").pin, known);
  assert.equal(choosePin(known, httpPin("1.2.3", null), "unfetchable").pin, known);
});
