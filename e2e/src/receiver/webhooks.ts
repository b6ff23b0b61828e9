/** Creates Receivers, and calls their webhooks as a sender does. */
import { createHmac } from "node:crypto";
import { waitUntil } from "@flotilla/local/process";
import { findCondition } from "@flotilla/shared/conditions";
import { type Receiver, receivers } from "@flotilla/shared/flux";
import type { ObjectRef } from "@flotilla/shared/kube/objects";
import type { TestFleet } from "../harness/fleet.ts";
import { hangMs } from "../harness/hang.ts";
import { waitForObject } from "../harness/wait.ts";

export interface Webhooks {
  /** Resolves with the path of its webhook. Of the type generic-hmac, with the Secret `sender`, unless the spec says otherwise. */
  create(ref: ObjectRef, spec: Partial<NonNullable<Receiver["spec"]>>): Promise<string>;
  suspend(ref: ObjectRef, isSuspended: boolean): Promise<void>;
  /** Resolves with the status of the response. */
  call(path: string, body: string, headers?: Readonly<Record<string, string>>): Promise<number>;
}

export function createWebhooks({ hub, hubPorts }: Pick<TestFleet, "hub" | "hubPorts">): Webhooks {
  return {
    async create(ref, spec) {
      await hub.create(receivers, {
        metadata: { ...ref },
        spec: {
          ...{ type: "generic-hmac", interval: "10m", resources: [] },
          secretRef: { name: "sender" },
          ...spec,
        },
      });
      const { status } = await waitForObject(hub, receivers, ref, "ready", (receiver) => {
        return findCondition(receiver.status?.conditions, "Ready")?.status === "True";
      });
      return status?.webhookPath ?? "";
    },
    async suspend(ref, isSuspended) {
      const body = { spec: { suspend: isSuspended } };
      await hub.patch(receivers, ref, { type: "merge", body });
    },
    async call(path, body, headers = {}) {
      const url = `http://127.0.0.1:${hubPorts.http}${path}`;
      const { status } = await fetch(url, { method: "POST", body, headers });
      return status;
    },
  };
}

/** As the senders have it in X-Signature and X-Hub-Signature-256. */
export function signatureOf(body: string, key: string): string {
  return `sha256=${createHmac("sha256", key).update(body).digest("hex")}`;
}

/** Repeats a call until its response has the status. */
export async function waitForStatus(status: number, call: () => Promise<number>): Promise<void> {
  await waitUntil(async () => (await call()) === status, {
    what: `a response with status ${status}`,
    timeoutMs: hangMs,
  });
}
