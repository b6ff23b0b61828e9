import assert from "node:assert/strict";
import { describe, it } from "vitest";
import { maskAddress, parseHelmfileAddress } from "./index.ts";
import { sampleDigest, sampleKey } from "./testing/index.ts";

const rows: readonly (readonly [text: string, masked: string])[] = [
  ["git::https://h:8443/o/r.git//d@f?ref=v1", "git::https://h:8443/o/r.git//d@f?ref=v1"],
  ["git::https://user:hunter2@h/o/r.git@f", "git::https://***@h/o/r.git@f"],
  ["git::https://hunter2@h/o/r.git@f", "git::https://***@h/o/r.git@f"],
  ["git::https://user:hun@ter2@h/o/r.git@f", "git::https://***@h/o/r.git@f"],
  ["git::https://user:hun%40ter2@h/o/r.git@f", "git::https://***@h/o/r.git@f"],
  ["HTTPS://user:hunter2@h/f", "HTTPS://***@h/f"],
  ["git::ssh://git@h/o/r.git@f", "git::ssh://git@h/o/r.git@f"],
  [`git::git@h:o/r.git@f?sshkey=${sampleKey}&ref=v1`, "git::git@h:o/r.git@f?sshkey=***&ref=v1"],
  ["git::git@h:o/r.git//d@f", "git::git@h:o/r.git//d@f"],
  ["https://[::1]:80/f", "https://[::1]:80/f"],
  ["https://bücher.example/ä/f", "https://bücher.example/ä/f"],
  ["oci://h/o/r:tag@f", "oci://h/o/r:tag@f"],
  [`oci://h/o/r@${sampleDigest}@f`, `oci://h/o/r@${sampleDigest}@f`],
  ["s3://bucket/d@f?region=eu", "s3://bucket/d@f?region=eu"],
  [
    "https://h/f?ref=v1&X-Amz-Signature=hunter2&API_KEY=hunter2&password=hunter2&mySecret=hunter2",
    "https://h/f?ref=v1&X-Amz-Signature=***&API_KEY=***&password=***&mySecret=***",
  ],
  ["https://h/f?to%6ben=hunter2", "https://h/f?to%6ben=***"],
  ["https://h/f?token%3Dhunter2", "https://h/f?***"],
  ["https://h/f?to%256ben=hunter2", "https://h/f?***"],
  ["https://h/f?hunter2", "https://h/f?***"],
  ["https://h/f?token=a?token=hunter2", "https://h/f?token=***?token=***"],
  ["https://h/f?next=g?token=hunter2", "https://h/f?next=g?token=***"],
  ["https://h/f?next=g%3Ftoken%3Dhunter2", "https://h/f?next=***"],
  ["https://h/f?next=https://user:hunter2@h", "https://h/f?next=***"],
  ["https://h/f&token=hunter2&ref=v1", "https://h/f&***&ref=v1"],
  ["https://h/f;token=hunter2/g", "https://h/f;***/g"],
  ["git::https://h/https:/user:hunter2@f", "git::https://h/https:/user:***@f"],
];

/** They are masked behind the scheme. */
const refused: readonly (readonly [text: string, masked: string])[] = [
  ["git::ssh://git:hunter2@h/o/r.git@f", "git::ssh://***"],
  ["git::git@h:o/r.git@f?sshkey=hunter2", "git::***"],
  ["s3://key:hunter2@bucket/f", "s3://***"],
  ["https://h/f?a=1;token=hunter2", "https://***"],
  ["https://h/f?to%zzken=hunter2", "https://***"],
  ["https://h/f#token=hunter2", "https://***"],
  ["https://proxy/https://user:hunter2@h/f", "https://***"],
  ["oci://&token=hunter2", "oci://***"],
  ["user:hunter2@h:o/r.git", "***"],
  ["github.com/o/r?token=hunter2", "***"],
  ["https://user:hunter2/x@h/f", "https://***"],
  ["https://user:8080/hunter2@h/f", "https://***"],
  ["https://user:hun\\ter2@h/f", "https://***"],
  ["https:///user:hunter2@h/f", "https://***"],
  ["https:user:hunter2@h/f", "***"],
  ["git::s3::https://user:hunter2@h/f", "git::***"],
  ["hunter2::https://user:hunter2@h/f", "***"],
  ["https://h/a\nb\u202e", "https://***"],
  [`https://user:${"1".repeat(5_000)}@h/f`, "an address of 5017 characters"],
  ["helmfile.d/helmfile.yaml", "helmfile.d/helmfile.yaml"],
  ["github.com/o/r", "github.com/o/r"],
];

describe("an address for people", () => {
  for (const [text, masked] of [...rows, ...refused]) {
    it(JSON.stringify(text.slice(0, 100)), () => assert.equal(maskAddress(text), masked));
  }

  it("is masked behind its scheme when it is refused", () => {
    for (const [text] of rows) parseHelmfileAddress(text);
    for (const [text] of refused) assert.throws(() => parseHelmfileAddress(text), text);
  });

  it("is cut when it is long", () => {
    assert.equal(maskAddress(`https://h/${"a".repeat(4_000)}`).length, 500);
  });
});
