import assert from "node:assert/strict";
import { helmRepositories } from "@flotilla/shared/flux";
import { describe, test } from "vitest";
import { SourceError } from "./source-error.ts";
import {
  aRepository,
  gate,
  refused,
  repositorySpec,
  revision,
  startTestRepository,
} from "./testing/index.ts";

const requestedAt = "reconcile.fluxcd.io/requestedAt";
const finalizer = "finalizers.fluxcd.io";
const minute = 60_000;
const hour = 60 * minute;

describe("a source", () => {
  test("is read once in each interval, and has no event for the same revision", async (t) => {
    const { create, read, pass, address, events, condition } = await startTestRepository(t);
    create();
    await read(1);
    assert.equal(condition("Ready")?.status, "True");

    await pass(hour);
    await read(7);
    assert.equal(address.reads, 7);
    assert.deepEqual(events, ["Normal NewArtifact"]);
  });

  test("with another revision has another artifact, and an event", async (t) => {
    const { create, read, pass, address, events, repository, until } = await startTestRepository(t);
    create();
    await read(1);

    address.current = revision("2");
    await pass(10 * minute);
    await until(() => (repository()?.status?.artifact?.revision === "2" ? true : undefined));
    assert.deepEqual(events, ["Normal NewArtifact", "Normal NewArtifact"]);
  });

  test("has an event for its recovery when the failure is written while its Secret is read", async (t) => {
    const { rest, deps, create, read, change, address, events, condition, until, ...sources } =
      await startTestRepository(t);
    sources.putSecret("login", { password: "1" });
    create({ spec: { ...repositorySpec, secretRef: { name: "login" } } });
    await read(1);
    const { replace } = rest;
    const refresh = deps.objects.refresh.bind(deps.objects);
    const [written, secretRead] = [gate(), gate()];
    rest.replace = async (...args) => {
      await written.passed;
      return await replace(...args);
    };
    address.current = refused;
    change({ spec: { timeout: "5s" } });
    await until(() => (events.includes("Warning Failed") ? true : undefined));

    address.current = revision("1");
    const reading = gate();
    deps.objects.refresh = async (...args) => {
      reading.open();
      await secretRead.passed;
      return await refresh(...args);
    };
    change({ spec: { timeout: "6s" } });
    await reading.passed;
    written.open();
    await until(() => (condition("Ready")?.status === "False" ? true : undefined));
    secretRead.open();

    await until(() => (condition("Ready")?.status === "True" ? true : undefined));
    assert.deepEqual(events, ["Normal NewArtifact", "Warning Failed", "Normal Succeeded"]);
  });

  test("keeps its artifact while a later attempt fails, is retried with backoff and recovers", async (t) => {
    const { create, read, clock, address, events, condition, repository, until, request } =
      await startTestRepository(t);
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
    const { create, change, read, pass, address, condition, repository, until } =
      await startTestRepository(
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
    const { create, change, read, address, condition, repository, until } =
      await startTestRepository(t);
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
    const { create, request, read, address, repository, until } = await startTestRepository(t);
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
    const { create, change, read, address } = await startTestRepository(t);
    create();
    await read(1);

    change({ annotations: { note: "a" } });
    await read(1);
    address.inputs = "revision 2";
    change({ annotations: { note: "b" } });
    await read(2);
  });

  test("is read again when its status was written by somebody else", async (t) => {
    const { create, change, read, address } = await startTestRepository(t);
    create();
    await read(1);

    address.damaged = true;
    change({ annotations: { note: "a" } });
    await read(2);
  });

  test("is read with its Secret, and again at once when the Secret changes", async (t) => {
    const { create, putSecret, read, address, until } = await startTestRepository(t);
    create({ spec: { ...repositorySpec, secretRef: { name: "login" } } });
    await read(1);
    assert.equal(address.password, "");

    putSecret("login", { password: "one" });
    await until(() => (address.password === "one" ? true : undefined));
    await read(2);
  });

  test("continues its schedule with a new leader, without a read", async (t) => {
    const { create, read, pass, address } = await startTestRepository(t);
    const polling = { observedGeneration: 1, nextAttemptTime: "2026-01-01T00:05:00.000Z" };
    create({ status: { observedGeneration: 1, polling } });

    await pass(4 * minute);
    assert.equal(address.reads, 0);
    await pass(minute);
    await read(1);
  });

  test("that has no index has no status, and is not read", async (t) => {
    const { create, change, read, address, repository, until } = await startTestRepository(t);
    create();
    await read(1);

    change({ spec: { url: "oci://registry.example.com", type: "oci" } });
    await until(() =>
      Object.keys(repository()?.status ?? { a: 1 }).length === 0 ? true : undefined,
    );
    assert.equal(address.reads, 1);
  });

  test("that is deleted has no finalizer of Flux, and is not read again", async (t) => {
    const { create, read, pass, rest, address, repository, until } = await startTestRepository(t);
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
    const { create, change, read, pass, address, condition } = await startTestRepository(t);
    create({ spec: { ...repositorySpec, suspend: true } });
    await pass(hour);
    assert.equal(address.reads, 0);

    change({ spec: { suspend: false } });
    await read(1);
    assert.equal(condition("Ready")?.status, "True");
  });

  test("keeps its artifact in use: its generation is observed, and its conditions stay", async (t) => {
    const { create, change, read, condition, repository, until } = await startTestRepository(t);
    create();
    await read(1);

    change({ spec: { suspend: true } });
    await until(() => (repository()?.status?.observedGeneration === 2 ? true : undefined));

    assert.equal(condition("Ready")?.status, "True");
    assert.equal(repository()?.status?.artifact?.revision, "1");
    await read(1);
  });

  test("has no observed generation without conditions", async (t) => {
    const { create, pass, repository } = await startTestRepository(t);
    create({ spec: { ...repositorySpec, suspend: true } });
    await pass(minute);
    assert.equal(repository()?.status, undefined);
  });

  test("handles a request without a read", async (t) => {
    const { create, change, read, request, repository, until } = await startTestRepository(t);
    create();
    await read(1);
    change({ spec: { suspend: true } });

    request(helmRepositories, "charts", "one");
    await until(() => repository()?.status?.lastHandledReconcileAt);
    await read(1);
  });
});
