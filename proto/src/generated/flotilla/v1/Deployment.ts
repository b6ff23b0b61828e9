// Original file: proto/fleet.proto

import type { ReleaseRequest as _flotilla_v1_ReleaseRequest, ReleaseRequest__Output as _flotilla_v1_ReleaseRequest__Output } from '../../flotilla/v1/ReleaseRequest.ts';

export interface Deployment {
  'name'?: (string);
  'uid'?: (string);
  'deploymentId'?: (string);
  'content'?: (Buffer | Uint8Array | string);
  'paused'?: (boolean);
  'request'?: (_flotilla_v1_ReleaseRequest | null);
}

export interface Deployment__Output {
  'name': (string);
  'uid': (string);
  'deploymentId': (string);
  'content': (Buffer);
  'paused': (boolean);
  'request': (_flotilla_v1_ReleaseRequest__Output | null);
}
