/**
 * Tells the pins that the hub resolved from those that somebody wrote into a HelmOp's Bundle. A pin names an address, so
 * whoever could write one could have a chart deployed from where a Policy forbids (docs/adr/0014).
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { Bundle, ChartPin } from "@flotilla/shared/api/bundle.ts";
import { canonicalJson } from "@flotilla/shared/json/exact.ts";
import type { ObjectMeta } from "@flotilla/shared/kube/objects/object.ts";

export interface PinSeals {
  /** The same Bundle, its pins sealed. */
  sealed(bundle: Bundle): Bundle;
  /** The pins of a Bundle; undefined unless they are sealed for it. */
  pinsOf(bundle: Bundle): readonly ChartPin[] | undefined;
}

export function createPinSeals(key: Uint8Array): PinSeals {
  /** For one Bundle alone: what is sealed in one namespace is of no use in another. */
  function sealOf({ namespace, name }: ObjectMeta, pins: readonly ChartPin[]): Buffer {
    return createHmac("sha256", key)
      .update(canonicalJson([namespace, name, pins]))
      .digest();
  }

  return {
    sealed(bundle) {
      const { pins = [] } = bundle.spec.helmOpOptions ?? {};
      const pinSeal = sealOf(bundle.metadata, pins).toString("base64");
      const helmOpOptions = { ...bundle.spec.helmOpOptions, pins, pinSeal };
      return { ...bundle, spec: { ...bundle.spec, helmOpOptions } };
    },
    pinsOf({ metadata, spec }) {
      const { pins = [], pinSeal = "" } = spec.helmOpOptions ?? {};
      const wanted = sealOf(metadata, pins);
      const given = Buffer.from(pinSeal, "base64");
      return given.length === wanted.length && timingSafeEqual(given, wanted) ? pins : undefined;
    },
  };
}
