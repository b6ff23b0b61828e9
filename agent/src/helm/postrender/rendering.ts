/** The folder of one run: what the agent writes for the plugin, and why the plugin has failed. Helm drops what it prints. */

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { cutText } from "@flotilla/shared/text";
import * as z from "zod";
import { sandboxSchema } from "../../sandbox/run/index.ts";
import { renderStepSchema } from "./kustomization.ts";

const renderingSchema = z.object({
  kustomize: z.object({
    path: z.string(),
    /** The whole environment; nothing is inherited. */
    environment: z.record(z.string(), z.string()),
    sandbox: sandboxSchema,
  }),
  steps: z.array(renderStepSchema),
});

/** What the plugin is to do. */
export type Rendering = z.infer<typeof renderingSchema>;

const inputFile = "rendering.json";
const releaseFile = "release.json";
const errorFile = "error";
const unreadableFile = "unreadable";
const longestError = 4_000;

export async function writeRendering(dir: string, rendering: Rendering): Promise<void> {
  await writeFile(join(dir, inputFile), JSON.stringify(rendering), { mode: 0o600 });
}

export async function readRendering(dir: string): Promise<Rendering> {
  return renderingSchema.parse(JSON.parse(await readFile(join(dir, inputFile), "utf8")));
}

/** `release`: what Helm prints of the release that it has rendered without a post-renderer, as JSON. */
export async function writeRelease(dir: string, release: string): Promise<void> {
  await writeFile(join(dir, releaseFile), release, { mode: 0o600 });
}

/** Undefined: the plugin reads what Helm passes to it. */
export async function readRelease(dir: string): Promise<string | undefined> {
  return await readIfThere(join(dir, releaseFile));
}

/** For the plugin: Helm may have changed what it passes to a post-renderer, so the plugin needs the release without one. */
export async function writeUnreadable(dir: string): Promise<void> {
  await writeFile(join(dir, unreadableFile), "", { mode: 0o600 });
}

export async function isUnreadable(dir: string): Promise<boolean> {
  return (await readIfThere(join(dir, unreadableFile))) !== undefined;
}

export async function writeRenderError(dir: string, message: string): Promise<void> {
  await writeFile(join(dir, errorFile), cutText(message, longestError), { mode: 0o600 });
}

/** Undefined: the plugin has not failed by itself. */
export async function readRenderError(dir: string): Promise<string | undefined> {
  return await readIfThere(join(dir, errorFile));
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (thrown) {
    if (thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT") return undefined;
    throw thrown;
  }
}
