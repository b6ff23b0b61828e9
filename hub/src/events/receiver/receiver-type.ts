/** The types of Receivers that the hub serves. Pure. */

const types = {
  generic: true,
  "generic-hmac": true,
  github: true,
  gitlab: true,
  bitbucket: true,
  harbor: true,
  dockerhub: true,
  quay: true,
  nexus: true,
  acr: true,
  gcr: true,
} as const;

export type ReceiverType = keyof typeof types;

/** False for types of Flux that the hub rejects: generic-oidc and cdevents. */
export function isReceiverType(type: string): type is ReceiverType {
  return Object.hasOwn(types, type);
}

/** For messages. */
export const receiverTypes: readonly string[] = Object.keys(types);
