/** The worker thread that parses large indexes, so that the event loop is not blocked. Entry point of a Worker. */
import { type MessagePort, parentPort } from "node:worker_threads";
import { messageOf, unreachable } from "../../../runtime/errors/index.ts";
import type { ChartEntries } from "./index-entry.ts";
import {
  createIndexPacker,
  type IndexPacker,
  type PackedIndex,
  type PackedPart,
  type PackOptions,
  readPart,
} from "./index-pack.ts";

/** `intake` is the number of an index that is being received; its first bytes start it. */
export type IndexTask =
  | {
      readonly kind: "add";
      readonly intake: number;
      readonly bytes: Uint8Array;
      readonly options: PackOptions;
    }
  | { readonly kind: "finish"; readonly intake: number }
  | { readonly kind: "drop"; readonly intake: number }
  | { readonly kind: "read"; readonly part: PackedPart };

export type IndexTaskRequest = IndexTask & { readonly id: number };

export type IndexTaskReply =
  | { readonly id: number; readonly kind: "done" }
  | { readonly id: number; readonly kind: "packed"; readonly index: PackedIndex }
  | { readonly id: number; readonly kind: "read"; readonly entries: ChartEntries | undefined }
  | { readonly id: number; readonly kind: "failed"; readonly message: string };

function serve(port: MessagePort): void {
  const packers = new Map<number, IndexPacker>();

  function handle(request: IndexTaskRequest): IndexTaskReply {
    const { id } = request;
    switch (request.kind) {
      case "add": {
        const packer = packers.get(request.intake) ?? createIndexPacker(request.options);
        packers.set(request.intake, packer);
        packer.add(request.bytes);
        return { id, kind: "done" };
      }
      case "finish": {
        const packer = packers.get(request.intake);
        if (packer === undefined) throw new Error("the index was dropped");
        packers.delete(request.intake);
        return { id, kind: "packed", index: packer.finish() };
      }
      case "drop":
        packers.delete(request.intake);
        return { id, kind: "done" };
      case "read":
        return { id, kind: "read", entries: readPart(request.part) };
      default:
        return unreachable(request);
    }
  }

  port.on("message", (request: IndexTaskRequest) => {
    try {
      const reply = handle(request);
      if (reply.kind !== "packed") port.postMessage(reply);
      else {
        const { bytes, ends, sizes } = reply.index;
        port.postMessage(reply, [bytes.buffer, ends.buffer, sizes.buffer]);
      }
    } catch (thrown) {
      if (request.kind === "add") packers.delete(request.intake);
      port.postMessage({
        id: request.id,
        kind: "failed",
        message: messageOf(thrown),
      } satisfies IndexTaskReply);
    }
  });
}

if (parentPort !== null) serve(parentPort);
