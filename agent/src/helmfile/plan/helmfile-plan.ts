/**
 * What a helmfile makes of a cluster: releases with their charts, values and order. Equal inputs have equal plans, in every cluster; a
 * plan has no value in it, only their digests.
 */
import { createHash, createHmac } from "node:crypto";
import { canonicalJson } from "@flotilla/shared/json";
import type { Values } from "@flotilla/shared/values";
import type { ReleaseOptions } from "../command/upgrade-command.ts";

export interface HelmfilePlan {
  /** The version of this form. */
  readonly format: 1;
  /** helmfile's version: `v1.7.4`. */
  readonly helmfile: string;
  /** By namespace and name. */
  readonly releases: readonly PlannedRelease[];
  /** `installed: false`: uninstalled where they are installed. */
  readonly removed: readonly ReleaseRef[];
}

export interface ReleaseRef {
  readonly namespace: string;
  readonly name: string;
}

export interface PlannedRelease extends ReleaseRef {
  readonly chart: PlannedChart;
  /** An HMAC, so that nobody can guess a value by it. */
  readonly values: string;
  readonly options: ReleaseOptions;
  /** `NAMESPACE/NAME` of the releases that have to be ready first. */
  readonly needs: readonly string[];
}

export interface PlannedChart {
  readonly name: string;
  readonly version: string;
  /** `sha256:` and hex, of the packaged chart. */
  readonly digest: string;
  /** The constraint of the helmfile, where it is not one version: another cluster may plan another one. */
  readonly range?: string;
}

/** `sha256:` and hex. */
export function planDigest(plan: HelmfilePlan): string {
  return `sha256:${createHash("sha256").update(canonicalJson(plan)).digest("hex")}`;
}

/** `key`: random, of the Helmfile. */
export function valuesDigest(values: Values, key: Uint8Array): string {
  return `hmac-sha256:${createHmac("sha256", key).update(canonicalJson(values)).digest("hex")}`;
}

export function releaseId({ namespace, name }: ReleaseRef): string {
  return `${namespace}/${name}`;
}
