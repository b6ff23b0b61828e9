/** The same index and the same constraint, given at random to the real Helm and to us: the same version, or both refuse. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, describe, it } from "node:test";
import { ensureBinaries } from "@flotilla/local/binaries/ensure-binaries.ts";
import { testDir } from "@flotilla/local/testing/test-parts.ts";
import { accessTo } from "@flotilla/shared/charts/access.ts";
import { createChartClient } from "@flotilla/shared/charts/chart-client.ts";
import { indexText } from "@flotilla/shared/charts/testing/index-text.ts";
import fc from "fast-check";
import { chartArchive } from "../testing/chart-archive.ts";
import { helmAnswer } from "./testing/helm-answer.ts";

/** Each run is one start of Helm. */
const runs = 60;

const number = fc.nat(3);
const version = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(number, number, number).map((parts) => parts.join(".")) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(number, number, number, fc.constantFrom("rc.1", "alpha", "0"))
      .map(([a, b, c, pre]) => `${a}.${b}.${c}-${pre}`),
  },
  { weight: 1, arbitrary: fc.constantFrom("v1.2.3", "1.2", "2", "nonsense", "1.2.3.4", "01.2.3") },
);
const bound = fc
  .tuple(fc.constantFrom("", "=", "!=", ">", "<", ">=", "<=", "~", "^"), version)
  .map((parts) => parts.join(""));
const wanted = fc.oneof(
  fc.constantFrom("", "*", "1.x", "^1 || ^3", "1 - 2", ">0.0.0-0"),
  version,
  bound,
  fc.tuple(bound, fc.constantFrom(" ", ", ", " || "), bound).map((parts) => parts.join("")),
);

const { helm } = await ensureBinaries(["helm"]);
const home = await testDir({ after });
const client = createChartClient({ userAgent: "flotilla-test" });
after(() => client.close());

let text = "";
const server = createServer((request, response) => {
  const [, archived] = /^\/x-(.*)\.tgz$/.exec(decodeURIComponent(request.url ?? "")) ?? [];
  if (archived === undefined) return void response.end(text);
  void chartArchive({ name: "x", version: archived, templates: {} }).then(({ bytes }) =>
    response.end(bytes),
  );
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
after(() => new Promise((resolve) => server.close(resolve)));
const address = server.address();
const origin = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;

describe("an index that Helm and we read", () => {
  it("leads to the same version, or both refuse", async () => {
    const source = { kind: "http", repository: origin, chart: "x" } as const;
    const versions = fc.uniqueArray(version, { minLength: 1, maxLength: 10 });
    let found = 0;
    await fc.assert(
      fc.asyncProperty(versions, wanted, async (available, constraint) => {
        text = indexText({ x: available });

        const ours = await client.resolvePin(source, constraint, accessTo(source)).then(
          ({ pin }) => (pin.kind === "tarball" ? "" : pin.version),
          () => "refused",
        );
        const chart = ["x", "--repo", origin];
        const theirs = await helmAnswer({ helm, home, chart, wanted: constraint });

        assert.equal(ours, theirs);
        if (ours !== "refused") found++;
      }),
      { numRuns: runs },
    );
    // Two who always refuse agree too.
    assert.ok(found > runs / 10, `only ${found} of ${runs} led to a version`);
  });
});
