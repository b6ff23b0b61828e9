import assert from "node:assert/strict";
import { packReferencedObject } from "@flotilla/shared/referenced";
import { test } from "vitest";
import type { KnownObject } from "../../state/index.ts";
import { withRequested } from "./referenced-objects.ts";

const data = (text: string) => ({ data: { key: Buffer.from(text).toString("base64") } });

test("the objects of a request come before what is stored, for that plan alone", async () => {
  const object = data("stored");
  const stored = { get: (): KnownObject => ({ digest: "d", object }) };
  const { digest, bytes: content } = await packReferencedObject(data("sent"));

  const { get } = await withRequested(stored, [
    { kind: "Secret", name: "sent", packed: { digest, content } },
    { kind: "ConfigMap", name: "absent" },
  ]);

  assert.deepEqual(get({ kind: "Secret", name: "sent" }), { digest, object: data("sent") });
  assert.deepEqual(get({ kind: "ConfigMap", name: "absent" }), {});
  assert.deepEqual(get({ kind: "Secret", name: "other" }), { digest: "d", object });
});

test("an object of a request with another digest is not used", async () => {
  const { bytes: content } = await packReferencedObject(data("sent"));
  const packed = { digest: `sha256:${"0".repeat(64)}`, content };

  await assert.rejects(
    withRequested({ get: () => undefined }, [{ kind: "Secret", name: "sent", packed }]),
    { code: "REFERENCED_OBJECT_INVALID" },
  );
});
