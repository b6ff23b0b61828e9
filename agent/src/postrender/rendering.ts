/** The folder of one run: what the agent writes for the plugin, and the error that the plugin leaves. Helm drops what it prints. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { renderStepSchema } from "./kustomization.ts";

const renderingSchema = z.object({
  kustomize: z.object({
    path: z.string(),
    /** The whole environment; nothing is inherited. */
    environment: z.record(z.string(), z.string()),
  }),
  steps: z.array(renderStepSchema),
});

/** What the plugin is to do. */
export type Rendering = z.infer<typeof renderingSchema>;

const inputFile = "rendering.json";
const errorFile = "error";
const longestError = 4_000;

export async function writeRendering(dir: string, rendering: Rendering): Promise<void> {
  await writeFile(join(dir, inputFile), JSON.stringify(rendering), { mode: 0o600 });
}

export async function readRendering(dir: string): Promise<Rendering> {
  return renderingSchema.parse(JSON.parse(await readFile(join(dir, inputFile), "utf8")));
}

export async function writeRenderError(dir: string, message: string): Promise<void> {
  await writeFile(join(dir, errorFile), message.slice(0, longestError), { mode: 0o600 });
}

/** Undefined: the plugin has not failed by itself. */
export async function readRenderError(dir: string): Promise<string | undefined> {
  return await readFile(join(dir, errorFile), "utf8").catch(() => undefined);
}
