/** What the pod runner needs on this machine: a way to isolate pods, and the file trees of the images. */
import { messageOf } from "@flotilla/shared/errors";
import type { LocalConfig } from "../config.ts";
import { type AgentTools, ensureImageTrees } from "../images/index.ts";
import { findIsolation, type Isolation } from "./isolation.ts";

export interface PreparedPods {
  readonly isolation: Isolation;
  /** File trees by program. */
  readonly images: Readonly<Record<string, string>>;
}

/** Throws IMAGE_BUILD_FAILED. */
export async function preparePods(config: LocalConfig, tools: AgentTools): Promise<PreparedPods> {
  const isolation = await findIsolation();
  const trees = (withDebian: boolean) => ensureImageTrees({ config, tools, withDebian });
  if (isolation.kind === "plain process") return { isolation, images: await trees(false) };
  try {
    return { isolation, images: await trees(true) };
  } catch (thrown) {
    const reason = `the images cannot be built: ${messageOf(thrown)}`;
    return { isolation: { kind: "plain process", reason }, images: await trees(false) };
  }
}
