import assert from "node:assert/strict";
import { type HelmRepository, helmRepositories } from "@flotilla/shared/flux";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { describe, type TestContext, test } from "vitest";
import { createSourceController, type SourceInputs } from "./source-controller.ts";
import { SourceError } from "./source-error.ts";
import type { SourceResult } from "./source-status.ts";
import { namespace, startTestSources } from "./testing/index.ts";

const requestedAt = "reconcile.fluxcd.io/requestedAt";
const finalizer = "finalizers.fluxcd.io";
const minute = 60_000;
const hour = 60 * minute;

/** A source with this revision. */
function revision(text: string): SourceResult {
  const url = "https://charts.example.com/index.yaml";
  const digest = `sha256:${text.padEnd(64, "0")}`;
  return { artifact: { revision: text, digest, url, path: "p" }, message: `stored '${text}'` };
}

const refused = new SourceError("Failed", "GET https://charts.example.com: connection refused");

/** The controller of HelmRepositories on a fake clock, whose address has `current`, or fails with it. */
async function setUp(t: TestContext, first: SourceResult | Error = revision("1")) {
  const clock = createFakeClock();
  const sources = await startTestSources(t, { clock });
  const address = { current: first, reads: 0, inputs: "", password: "", damaged: false };
  const { controller, statuses } = createSourceController<HelmRepository>(
    {
      name: "helmrepository",
      resource: helmRepositories,
      isRead: ({ spec }) => spec?.type !== "oci",
      intervalOf: ({ spec }) => spec?.interval,
      addressOf: ({ spec }) => spec?.url ?? "",
      secretsOf: ({ spec }) => (spec?.secretRef === undefined ? [] : [spec.secretRef.name]),
      inputsOf: () => address.inputs,
      isDamaged: () => address.damaged,
      read(object: HelmRepository, { secret }: SourceInputs) {
        address.reads += 1;
        const { data } = secret(object.spec?.secretRef?.name ?? "") ?? {};
        address.password = Buffer.from(data?.["password"] ?? "", "base64").toString();
        const { current } = address;
        return current instanceof Error ? Promise.reject(current) : Promise.resolve(current);
      },
    },
    sources.flux.helmRepositories,
    sources.deps,
  );
  sources.run(controller);
  const repository = () => sources.get(helmRepositories, "charts");
  return {
    ...sources,
    ...{ clock, address, statuses, repository },
    create: (object: Partial<HelmRepository> = {}) =>
      sources.rest.put(helmRepositories, { ...aRepository, ...object }),
    change: (change: Parameters<typeof sources.change<HelmRepository>>[2]) =>
      sources.change(helmRepositories, "charts", change),
    condition: (type: string) => sources.condition(helmRepositories, "charts", type),
    /** Waits for the write of the result of that many reads. */
    async read(times: number): Promise<void> {
      await sources.until(() => {
        const { polling, conditions } = repository()?.status ?? {};
        const isWritten = polling !== undefined && conditions?.[0]?.reason !== "Progressing";
        return address.reads >= times && isWritten ? true : undefined;
      });
      await clock.advance(0);
      assert.equal(address.reads, times);
    },
    /** The time passes in steps, and whatever is due then is done. */
    async pass(ms: number): Promise<void> {
      for (let left = ms; left > 0; left -= minute) await clock.advance(Math.min(left, minute));
    },
  };
}

const spec: NonNullable<HelmRepository["spec"]> = {
  ...{ url: "https://charts.example.com", interval: "10m", provider: "generic" },
};
const aRepository: HelmRepository = {
  metadata: { name: "charts", namespace, uid: "u-1", generation: 1 },
  spec,
};

describe("a source", () => {
  test("is read once in each interval, and has no event for the same revision", async (t) => {
    const { create, read, pass, address, events, condition } = await setUp(t);
    create();
    await read(1);
    assert.equal(condition("Ready")?.status, "True");

    await pass(hour);
    await read(7);
    assert.equal(address.reads, 7);
    assert.deepEqual(events, ["Normal NewArtifact"]);
  });

  test("with another revision has another artifact, and an event", async (t) => {
    const { create, read, pass, address, events, repository, until } = await setUp(t);
    create();
    await read(1);

    address.current = revision("2");
    await pass(10 * minute);
    await until(() => (repository()?.status?.artifact?.revision === "2" ? true : undefined));
    assert.deepEqual(events, ["Normal NewArtifact", "Normal NewArtifact"]);
  });

  test("keeps its artifact while a later attempt fails, is retried with backoff and recovers", async (t) => {
    const { create, read, clock, address, events, condition, repository, until, request } =
      await setUp(t);
    create();
    await read(1);

    address.current = refused;
    request(helmRepositories, "charts", "one");
    await until(() => condition("FetchFailed"));
    assert.equal(address.reads, 2);
    assert.equal(condition("Ready")?.status, "False");
    assert.equal(condition("ArtifactInStorage")?.status, "True");
    assert.equal(repository()?.status?.artifact?.revision, "1");
    assert.match(condition("Ready")?.message ?? "", /connection refused; retrying at 2026-01-01T/);

    await clock.advance(740);
    assert.equal(address.reads, 2, "the first delay is 750 ms");
    await clock.advance(10);
    await until(() => (address.reads === 3 ? true : undefined));
    await clock.advance(1_490);
    assert.equal(address.reads, 3, "the second delay is 1.5 s");
    address.current = revision("1");
    await clock.advance(10);
    await until(() => (condition("Ready")?.status === "True" ? true : undefined));

    assert.equal(address.reads, 4);
    assert.equal(condition("FetchFailed"), undefined);
    assert.deepEqual(events, [
      "Normal NewArtifact",
      "Warning Failed",
      "Warning Failed",
      "Normal Succeeded",
    ]);
  });

  test("that is Stalled is not retried until its spec changes", async (t) => {
    const { create, change, read, pass, address, condition, repository, until } = await setUp(
      t,
      new SourceError("URLInvalid", "spec.url has no host", { stalls: true }),
    );
    create();
    await read(1);
    assert.equal(condition("Stalled")?.reason, "URLInvalid");
    assert.equal(repository()?.status?.observedGeneration, 1);

    await pass(24 * hour);
    assert.equal(address.reads, 1);

    address.current = revision("1");
    change({ spec: { url: "https://charts2.example.com" } });
    await until(() => (condition("Ready")?.status === "True" ? true : undefined));
    assert.equal(condition("Stalled"), undefined);
    assert.equal(repository()?.status?.observedGeneration, 2);
  });

  test("with another generation that cannot be read does not observe it, and is not Stalled", async (t) => {
    const { create, change, read, address, condition, repository, until } = await setUp(t);
    create();
    await read(1);

    address.current = refused;
    change({ spec: { url: "https://gone.example.com" } });
    await until(() => condition("FetchFailed"));

    assert.equal(repository()?.status?.observedGeneration, 1);
    assert.equal(condition("Ready")?.observedGeneration, 2);
    assert.equal(condition("Reconciling")?.reason, "ProgressingWithRetry");
  });

  test("is read once for each value of requestedAt, also when that fails", async (t) => {
    const { create, request, read, address, repository, until } = await setUp(t);
    const handled = (value: string) =>
      until(() => (repository()?.status?.lastHandledReconcileAt === value ? true : undefined));
    create({ metadata: { ...aRepository.metadata, annotations: { [requestedAt]: "one" } } });
    await read(1);
    await handled("one");

    address.current = refused;
    request(helmRepositories, "charts", "two");
    await handled("two");
    request(helmRepositories, "charts", "two");
    await read(2);
  });

  test("is read again when what it is made from changes", async (t) => {
    const { create, change, read, address } = await setUp(t);
    create();
    await read(1);

    change({ annotations: { note: "a" } });
    await read(1);
    address.inputs = "revision 2";
    change({ annotations: { note: "b" } });
    await read(2);
  });

  test("is read again when its status was written by somebody else", async (t) => {
    const { create, change, read, address } = await setUp(t);
    create();
    await read(1);

    address.damaged = true;
    change({ annotations: { note: "a" } });
    await read(2);
  });

  test("is read with its Secret, and again at once when the Secret changes", async (t) => {
    const { create, putSecret, read, address, until } = await setUp(t);
    create({ spec: { ...spec, secretRef: { name: "login" } } });
    await read(1);
    assert.equal(address.password, "");

    putSecret("login", { password: "one" });
    await until(() => (address.password === "one" ? true : undefined));
    await read(2);
  });

  test("continues its schedule with a new leader, without a read", async (t) => {
    const { create, read, pass, address } = await setUp(t);
    const polling = { observedGeneration: 1, nextAttemptTime: "2026-01-01T00:05:00.000Z" };
    create({ status: { observedGeneration: 1, polling } });

    await pass(4 * minute);
    assert.equal(address.reads, 0);
    await pass(minute);
    await read(1);
  });

  test("that has no index has no status, and is not read", async (t) => {
    const { create, change, read, address, repository, until } = await setUp(t);
    create();
    await read(1);

    change({ spec: { url: "oci://registry.example.com", type: "oci" } });
    await until(() =>
      Object.keys(repository()?.status ?? { a: 1 }).length === 0 ? true : undefined,
    );
    assert.equal(address.reads, 1);
  });

  test("that is deleted has no finalizer of Flux, and is not read again", async (t) => {
    const { create, read, pass, rest, address, repository, until } = await setUp(t);
    create({ metadata: { ...aRepository.metadata, finalizers: [finalizer] } });
    await read(1);

    await rest.delete(helmRepositories, aRepository.metadata);
    await until(() => (repository() === undefined ? true : undefined));
    await pass(hour);
    assert.equal(address.reads, 1);
  });
});

describe("a suspended source", () => {
  test("is not read, and is read at once when it is resumed", async (t) => {
    const { create, change, read, pass, address, condition } = await setUp(t);
    create({ spec: { ...spec, suspend: true } });
    await pass(hour);
    assert.equal(address.reads, 0);

    change({ spec: { suspend: false } });
    await read(1);
    assert.equal(condition("Ready")?.status, "True");
  });

  test("keeps its artifact in use: its generation is observed, and its conditions stay", async (t) => {
    const { create, change, read, condition, repository, until } = await setUp(t);
    create();
    await read(1);

    change({ spec: { suspend: true } });
    await until(() => (repository()?.status?.observedGeneration === 2 ? true : undefined));

    assert.equal(condition("Ready")?.status, "True");
    assert.equal(repository()?.status?.artifact?.revision, "1");
    await read(1);
  });

  test("has no observed generation without conditions", async (t) => {
    const { create, pass, repository } = await setUp(t);
    create({ spec: { ...spec, suspend: true } });
    await pass(minute);
    assert.equal(repository()?.status, undefined);
  });

  test("handles a request without a read", async (t) => {
    const { create, change, read, request, repository, until } = await setUp(t);
    create();
    await read(1);
    change({ spec: { suspend: true } });

    request(helmRepositories, "charts", "one");
    await until(() => repository()?.status?.lastHandledReconcileAt);
    await read(1);
  });
});
