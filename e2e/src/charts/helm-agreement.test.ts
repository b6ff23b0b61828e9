/**
 * The same index or registry and the same constraint, given at random to the real Helm and to us: the same version, or
 * both refuse. `FLOTILLA_SEED` asks others, `FLOTILLA_PAIRS` more of them; `npm run soak` asks 2,100.
 */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { basename, join } from "node:path";
import { ensureBinaries } from "@flotilla/local/binaries";
import { startReaper } from "@flotilla/local/process";
import { startRegistry } from "@flotilla/local/registries";
import { testDir } from "@flotilla/local/testing";
import { accessTo, type Pin, type SourceLocation } from "@flotilla/shared/source";
import { createSourceClient } from "@flotilla/shared/source/client";
import { seed } from "@flotilla/shared/testing";
import { parseVersion } from "@flotilla/shared/version";
import fc from "fast-check";
import { afterAll, describe, it, type TestContext } from "vitest";
import { type Answered, anyVersion, askBoth, fullVersion } from "./testing/agreement.ts";
import { helmAnswers, rejected } from "./testing/helm-answer.ts";
import { pushTags } from "./testing/tagged-charts.ts";

/** Of both kinds together. */
const pairs = Number(process.env["FLOTILLA_PAIRS"] ?? 420);
const lanes = 2;
const chartsAtATime = 10;
const repositories = 40;

const { helm, registry: registryBinary } = await ensureBinaries(["helm", "registry"]);
const home = await testDir({ onTestFinished: afterAll });
const client = createSourceClient({ userAgent: "flotilla-test" });
afterAll(() => client.close());

/** What we would have everybody download, or that we refuse. */
async function ours(
  source: SourceLocation,
  wanted: string,
  nameOf: (pin: Pin) => string,
): Promise<string> {
  return client.resolve(source, wanted, accessTo(source)).then(
    ({ pin }) => nameOf(pin),
    () => rejected,
  );
}

function agreed(t: TestContext, answered: readonly Answered[]): void {
  const found = answered.filter(({ theirs }) => theirs !== rejected).length;
  void t.annotate(`${answered.length} pairs, ${found} with a version, FLOTILLA_SEED=${seed}`);

  const different = answered.filter((one) => one.ours !== one.theirs);
  assert.deepEqual(different.slice(0, 5), [], `${different.length} with FLOTILLA_SEED=${seed}`);
  // Two who always refuse agree too, and so do two who never do.
  assert.ok(found > answered.length / 3, `only ${found} led to a version`);
  assert.ok(found < answered.length * 0.98, `only ${answered.length - found} were refused`);
}

interface Entry {
  readonly version: string | undefined;
  /** Whether it has addresses, and a name. */
  readonly urls: boolean;
  readonly name: boolean;
}

describe("an index that Helm and we read", () => {
  /** What an entry of an index is made of; some are of the broken kinds that Helm skips. */
  const entry: fc.Arbitrary<Entry | null> = fc.oneof(
    { weight: 14, arbitrary: anyVersion.map((version) => ({ version, urls: true, name: true })) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        null,
        { version: "0.9.9", urls: false, name: true },
        { version: "0.9.9", urls: true, name: false },
        { version: undefined, urls: true, name: true },
      ),
    },
  );
  // Twelve entries at most: beyond that Helm's sort is not stable, and which of two equal versions it takes is chance.
  const offers = fc.array(fc.array(entry, { minLength: 2, maxLength: 12 }), {
    minLength: chartsAtATime,
    maxLength: chartsAtATime,
  });

  it("leads to the same entry, or both refuse", async (t) => {
    const indexes = new Map<string, string>();
    const server = createServer(({ url = "" }, response) =>
      response.end(indexes.get(url) ?? "the bytes of a chart"),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    t.onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
    const address = server.address();
    const origin = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;

    const answered = await askBoth({
      seed,
      pairs: Math.ceil((pairs * 2) / 3),
      lanes,
      offers,
      ask: async ({ offers: charts, wanted }, at, lane) => {
        const lines = charts.flatMap((entries, chart) => [
          `  c${chart}:`,
          ...entries.map((one, number) => `  - ${JSON.stringify(toEntry(one, chart, number))}`),
        ]);
        indexes.set(`/${at}/index.yaml`, ["apiVersion: v1", "entries:", ...lines, ""].join("\n"));
        const repository = `${origin}/${at}`;

        const theirs = await helmAnswers({
          helm,
          home: join(home, `http-${lane}`),
          charts: charts.map((_, chart) => ({ argument: `c${chart}`, begins: `c${chart}_` })),
          flags: ["--repo", repository],
          wanted,
        });
        return Promise.all(
          charts.map(async (entries, chart) => ({
            question: `${JSON.stringify(wanted)} of ${JSON.stringify(entries)}`,
            ours: await ours({ kind: "http", repository, chart: `c${chart}` }, wanted, (pin) =>
              pin.kind === "http" ? basename(pin.url) : pin.kind,
            ),
            theirs: theirs[chart] ?? "",
          })),
        );
      },
    });

    agreed(t, answered);
  });

  /** As JSON, which is YAML. */
  function toEntry(one: Entry | null, chart: number, number: number): unknown {
    return (
      one && {
        ...(one.name && { name: `c${chart}` }),
        version: one.version,
        urls: one.urls ? [`c${chart}_${number}.tgz`] : [],
      }
    );
  }
});

describe("a registry that Helm and we read", async () => {
  const reaper = startReaper();
  afterAll(() => reaper.release());
  const registry = await startRegistry({
    dir: join(home, "registry"),
    binary: registryBinary,
    reaper,
  });
  afterAll(() => registry.stop());

  // Of full versions, and of what both leave out. What Helm leaves out and we do not is in the table below.
  const tags = fc.uniqueArray(
    fc.oneof(
      { weight: 12, arbitrary: fullVersion.map((version) => version.replaceAll("+", "_")) },
      { weight: 1, arbitrary: fc.constantFrom("latest", "nonsense", "1.2.3.4", "main") },
    ),
    { minLength: 3, maxLength: 8 },
  );

  /**
   * Helm takes whatever it can read as one version for the name of a tag, and refuses when there is none. As Fleet we
   * then take it for the constraint that it is as well: `1.2` is a range, and `1.2.3` is also `v1.2.3` and `1.2.3+b`. So
   * Helm is asked for the same with the sign that makes it a constraint to it.
   */
  function asConstraint(wanted: string, offered: readonly string[]): string {
    const isTag = offered.includes(wanted.replaceAll("+", "_"));
    return !isTag && parseVersion(wanted) !== undefined ? `=${wanted}` : wanted;
  }

  it("leads to the same tag, or both refuse", async (t) => {
    const offered = fc.sample(tags, { seed, numRuns: repositories });
    await Promise.all(offered.map((one, at) => pushTags(registry.url, `random/c${at}`, one)));

    const answered = await askBoth({
      seed: seed + 1,
      pairs: Math.ceil(pairs / 3),
      lanes,
      offers: fc.uniqueArray(fc.nat(repositories - 1), {
        minLength: chartsAtATime,
        maxLength: chartsAtATime,
      }),
      ask: async ({ offers: chosen, wanted }, _, lane) => {
        const asked = Map.groupBy(chosen, (at) => asConstraint(wanted, offered[at] ?? []));
        const theirs = new Map<number, string>();
        for (const [question, charts] of asked) {
          const answers = await helmAnswers({
            helm,
            home: join(home, `oci-${lane}`),
            charts: charts.map((at) => ({
              argument: `${registry.oci}/random/c${at}`,
              begins: `c${at}-`,
            })),
            flags: ["--plain-http"],
            wanted: question,
          });
          for (const [number, at] of charts.entries()) theirs.set(at, answers[number] ?? "");
        }
        return Promise.all(
          chosen.map(async (at) => ({
            question: `${JSON.stringify(wanted)} of ${JSON.stringify(offered[at])}`,
            ours: await ours(
              { kind: "oci", repository: `${registry.oci}/random/c${at}` },
              wanted,
              (pin) => (pin.kind === "oci" ? `c${at}-${pin.version}.tgz` : pin.kind),
            ),
            theirs: theirs.get(at) ?? "",
          })),
        );
      },
    });

    agreed(t, answered);
  });

  // biome-ignore format: a table
  const differences: readonly (readonly [why: string, wanted: string, ours: string, helm: string])[] = [
    ["a tag with a v is a version to Fleet, and Helm does not see it", "^1.4 <1.9", "v1.5.0", rejected],
    ["a tag of two numbers is a version to Fleet, and Helm does not see it", "~1.9", "1.9", rejected],
    ["both take such tags when they are named", "v1.5.0", "v1.5.0", "v1.5.0"],
    ["both take such tags when they are named", "1.9", "1.9", "1.9"],
    ["two numbers are a range to Fleet, and the name of a tag to Helm", "1.2", "1.2.3", rejected],
    ["a v makes no other version to Fleet, and another tag to Helm", "v1.2.3", "1.2.3", rejected],
    ["a full version is also one with a v to Fleet, and a tag to Helm", "1.5.0", "v1.5.0", rejected],
    ["without a version both take the newest release (Fleet refuses, though its documentation says otherwise)", "", "1.2.3", "1.2.3"],
    ["a plus is an underscore in the tag to both", "1.0.0+b", "1.0.0+b", "1.0.0+b"],
    ["of equal versions both take the first by text", "=1.0.0", "1.0.0+a", "1.0.0+a"],
    ["a prerelease that is named is taken by both", "3.0.0-rc.1", "3.0.0-rc.1", "3.0.0-rc.1"],
    ["a prerelease is let in by a constraint that names one, by both", ">2-0", "3.0.0-rc.1", "3.0.0-rc.1"],
  ];
  it("is read in another way than Helm's only where Fleet reads it so", async () => {
    const chart = "differences/c";
    // The newest that both see is 1.2.3.
    const tags = ["1.0.0_a", "1.0.0_b", "1.2.3", "v1.5.0", "1.9", "3.0.0-rc.1", "latest"];
    await pushTags(registry.url, chart, tags);
    await pushTags(
      registry.url,
      "differences/d",
      tags.filter((tag) => !/^v|^1.9/.test(tag)),
    );

    for (const [why, wanted, us, them] of differences) {
      const path = wanted === "" ? "differences/d" : chart;
      const [theirs = ""] = await helmAnswers({
        helm,
        home: join(home, "table"),
        charts: [{ argument: `${registry.oci}/${path}`, begins: path.endsWith("d") ? "d-" : "c-" }],
        flags: ["--plain-http"],
        wanted,
      });
      const source = { kind: "oci", repository: `${registry.oci}/${path}` } as const;
      const our = await ours(source, wanted, (pin) => (pin.kind === "oci" ? pin.version : ""));

      assert.deepEqual(
        [our, theirs.replace(/^[cd]-|\.tgz$/g, "")],
        [us, them],
        `${wanted}: ${why}`,
      );
    }
  });
});
