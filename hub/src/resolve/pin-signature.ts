/**
 * Tells the pins that the hub resolved from those that somebody wrote into a HelmOp's Bundle. A pin names an address, so
 * whoever could write one could have a chart deployed from where a Policy forbids (docs/adr/0014).
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { Bundle, ChartPin } from "@flotilla/shared/api";
import { canonicalJson } from "@flotilla/shared/json";
import type { ObjectMeta } from "@flotilla/shared/kube/objects";

export interface PinSigner {
  /** The same Bundle, its pins sealed. */
  signed(bundle: Bundle): Bundle;
  /** The pins of a Bundle; undefined unless they are sealed for it. */
  pinsOf(bundle: Bundle): readonly ChartPin[] | undefined;
}

export function createPinSigner(key: Uint8Array): PinSigner {
  /** For one Bundle alone: what is sealed in one namespace is of no use in another. */
  function signatureOf({ namespace, name }: ObjectMeta, pins: readonly ChartPin[]): Buffer {
    return createHmac("sha256", key)
      .update(canonicalJson([namespace, name, pins]))
      .digest();
  }

  return {
    signed(bundle) {
      const { pins = [] } = bundle.spec.helmOpOptions ?? {};
      const pinSignature = signatureOf(bundle.metadata, pins).toString("base64");
      const helmOpOptions = { ...bundle.spec.helmOpOptions, pins, pinSignature };
      return { ...bundle, spec: { ...bundle.spec, helmOpOptions } };
    },
    pinsOf({ metadata, spec }) {
      const { pins = [], pinSignature = "" } = spec.helmOpOptions ?? {};
      const wanted = signatureOf(metadata, pins);
      const given = Buffer.from(pinSignature, "base64");
      return given.length === wanted.length && timingSafeEqual(given, wanted) ? pins : undefined;
    },
  };
}
