/** Emptying a fleet on an API server in memory, whose objects have no finalizers. */
import assert from "node:assert/strict";
import { helmOps } from "@flotilla/shared/api";
import {
  clusterAnnotation,
  clusterNamespaceAnnotation,
  helmOpFinalizer,
  managedLabel,
} from "@flotilla/shared/api/names";
import { KubeStatusError } from "@flotilla/shared/kube/client";
import { type KubeObject, type Namespace, namespaces } from "@flotilla/shared/kube/objects";
import { createMemoryApiServer, type MemoryApiServer } from "@flotilla/shared/kube/testing";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import { emptyFleet } from "./empty-fleet.ts";

const namespace = "fleet-default";
const name = "cluster-paris";
const annotations = { [clusterNamespaceAnnotation]: namespace, [clusterAnnotation]: "paris" };
const labels = { [managedLabel]: "true" };
const web: KubeObject = { metadata: { namespace, name: "web" } };
const { signal } = new AbortController();

function setUp() {
  const kube = createMemoryApiServer();
  const clock = createFakeClock();
  const options = { keepReleases: false, timeoutMs: 1_000, clock, print: () => undefined };
  return { kube, clock, empty: (rest = kube) => emptyFleet({ ...options, rest }, signal) };
}

const namesOf = (kube: MemoryApiServer) =>
  kube.all<Namespace>(namespaces).map(({ metadata }) => metadata.name);

describe("a fleet is emptied", () => {
  test("of namespaces with its label and the names of a Cluster, and of no other", async () => {
    const { kube, empty } = setUp();
    kube.put(namespaces, { metadata: { name, labels, annotations } });
    kube.put(namespaces, { metadata: { name: "labelled", labels } });
    kube.put(namespaces, { metadata: { name: "annotated", annotations } });

    await empty();

    assert.deepEqual(namesOf(kube), ["labelled", "annotated"]);
  });

  test("without deleting what was created under the same name after it was read", async () => {
    const { kube, empty } = setUp();
    kube.put(namespaces, { metadata: { name, uid: "ours", labels, annotations } });
    kube.beforeWrite = () => {
      kube.remove(namespaces, { name });
      kube.put(namespaces, { metadata: { name, uid: "theirs" } });
    };

    await empty();

    assert.equal(kube.peek(namespaces, { name })?.metadata.uid, "theirs");
  });

  test("of what is left where a CRD does not exist any more", async () => {
    const { kube, empty } = setUp();
    kube.put(namespaces, { metadata: { name, labels, annotations } });
    const missing = new KubeStatusError("no such kind", { status: 404, reason: "NotFound" });

    await empty({
      ...kube,
      list: (resource, options) =>
        resource.kind === helmOps.kind ? Promise.reject(missing) : kube.list(resource, options),
    });

    assert.deepEqual(namesOf(kube), []);
  });

  test("until nothing has changed for the timeout, and the error names what is left", async () => {
    const { kube, clock, empty } = setUp();
    kube.put<KubeObject>(helmOps, {
      metadata: { ...web.metadata, finalizers: [helmOpFinalizer] },
    });
    const emptied = empty();
    const rejected = assert.rejects(emptied, {
      code: "UNINSTALL_INCOMPLETE",
      message:
        /nothing has changed for 1 s while waiting for 1 HelmOp to be removed: fleet-default\/web .*finalizers/,
    });
    for (let waited = 0; waited < 1_500; waited += 500) {
      await clock.timer();
      await clock.advance(500);
    }

    await rejected;
  });
});
