// Original file: proto/fleet.proto

import type { ReleaseRequest as _flotilla_v1_ReleaseRequest, ReleaseRequest__Output as _flotilla_v1_ReleaseRequest__Output } from '../../flotilla/v1/ReleaseRequest.ts';
import type { SourceDigest as _flotilla_v1_SourceDigest, SourceDigest__Output as _flotilla_v1_SourceDigest__Output } from '../../flotilla/v1/SourceDigest.ts';
import type { PlanVerification as _flotilla_v1_PlanVerification, PlanVerification__Output as _flotilla_v1_PlanVerification__Output } from '../../flotilla/v1/PlanVerification.ts';

export interface Deployment {
  'name'?: (string);
  'uid'?: (string);
  'deploymentId'?: (string);
  'content'?: (Buffer | Uint8Array | string);
  'paused'?: (boolean);
  'request'?: (_flotilla_v1_ReleaseRequest | null);
  'sources'?: (_flotilla_v1_SourceDigest)[];
  'verification'?: (_flotilla_v1_PlanVerification | null);
}

export interface Deployment__Output {
  'name': (string);
  'uid': (string);
  'deploymentId': (string);
  'content': (Buffer);
  'paused': (boolean);
  'request': (_flotilla_v1_ReleaseRequest__Output | null);
  'sources': (_flotilla_v1_SourceDigest__Output)[];
  'verification': (_flotilla_v1_PlanVerification__Output | null);
}
