// Original file: proto/fleet.proto

import type { ReferencedObject as _flotilla_v1_ReferencedObject, ReferencedObject__Output as _flotilla_v1_ReferencedObject__Output } from '../../flotilla/v1/ReferencedObject.ts';

export interface PlanRequest {
  'deploymentId'?: (string);
  'content'?: (Buffer | Uint8Array | string);
  'key'?: (Buffer | Uint8Array | string);
  'text'?: (boolean);
  'objects'?: (_flotilla_v1_ReferencedObject)[];
}

export interface PlanRequest__Output {
  'deploymentId': (string);
  'content': (Buffer);
  'key': (Buffer);
  'text': (boolean);
  'objects': (_flotilla_v1_ReferencedObject__Output)[];
}
