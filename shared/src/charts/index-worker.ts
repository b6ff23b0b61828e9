/** The thread in which large indexes are taken apart, so that nobody else waits for it. Entry point of a Worker. */
import { type MessagePort, parentPort } from "node:worker_threads";
import { messageOf } from "../errors/app-error.ts";
import type { ChartEntries } from "./index-entry.ts";
import { type PackedIndex, type PackedPart, packIndex, readPart } from "./index-pack.ts";

export type IndexTask =
  | { readonly kind: "pack"; readonly text: Uint8Array; readonly parseAll: boolean }
  | { readonly kind: "read"; readonly part: PackedPart };

export type IndexTaskRequest = IndexTask & { readonly id: number };

export type IndexTaskReply =
  | { readonly id: number; readonly kind: "packed"; readonly index: PackedIndex }
  | { readonly id: number; readonly kind: "read"; readonly entries: ChartEntries | undefined }
  | { readonly id: number; readonly kind: "failed"; readonly message: string };

function serve(port: MessagePort): void {
  port.on("message", (request: IndexTaskRequest) => {
    try {
      if (request.kind === "pack") {
        const index = packIndex(request.text, request);
        const reply: IndexTaskReply = { id: request.id, kind: "packed", index };
        port.postMessage(reply, [index.bytes.buffer, index.ends.buffer, index.sizes.buffer]);
      } else {
        const entries = readPart(request.part);
        port.postMessage({ id: request.id, kind: "read", entries } satisfies IndexTaskReply);
      }
    } catch (thrown) {
      port.postMessage({
        id: request.id,
        kind: "failed",
        message: messageOf(thrown),
      } satisfies IndexTaskReply);
    }
  });
}

if (parentPort !== null) serve(parentPort);
