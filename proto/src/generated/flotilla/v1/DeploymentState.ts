// Original file: proto/fleet.proto

import type { Release as _flotilla_v1_Release, Release__Output as _flotilla_v1_Release__Output } from '../../flotilla/v1/Release.ts';
import type { ResourceState as _flotilla_v1_ResourceState, ResourceState__Output as _flotilla_v1_ResourceState__Output } from '../../flotilla/v1/ResourceState.ts';
import type { ResourceCounts as _flotilla_v1_ResourceCounts, ResourceCounts__Output as _flotilla_v1_ResourceCounts__Output } from '../../flotilla/v1/ResourceCounts.ts';
import type { ReleaseCondition as _flotilla_v1_ReleaseCondition, ReleaseCondition__Output as _flotilla_v1_ReleaseCondition__Output } from '../../flotilla/v1/ReleaseCondition.ts';
import type { Revision as _flotilla_v1_Revision, Revision__Output as _flotilla_v1_Revision__Output } from '../../flotilla/v1/Revision.ts';
import type { Drift as _flotilla_v1_Drift, Drift__Output as _flotilla_v1_Drift__Output } from '../../flotilla/v1/Drift.ts';
import type { SourceDigest as _flotilla_v1_SourceDigest, SourceDigest__Output as _flotilla_v1_SourceDigest__Output } from '../../flotilla/v1/SourceDigest.ts';
import type { RequestResult as _flotilla_v1_RequestResult, RequestResult__Output as _flotilla_v1_RequestResult__Output } from '../../flotilla/v1/RequestResult.ts';
import type { Long } from '@grpc/proto-loader';

// Original file: proto/fleet.proto

export const _flotilla_v1_DeploymentState_Phase = {
  PHASE_UNSPECIFIED: 'PHASE_UNSPECIFIED',
  PHASE_PENDING: 'PHASE_PENDING',
  PHASE_DEPLOYED: 'PHASE_DEPLOYED',
  PHASE_FAILED: 'PHASE_FAILED',
  PHASE_WITHDRAWING: 'PHASE_WITHDRAWING',
} as const;

export type _flotilla_v1_DeploymentState_Phase =
  | 'PHASE_UNSPECIFIED'
  | 0
  | 'PHASE_PENDING'
  | 1
  | 'PHASE_DEPLOYED'
  | 2
  | 'PHASE_FAILED'
  | 3
  | 'PHASE_WITHDRAWING'
  | 4

export type _flotilla_v1_DeploymentState_Phase__Output = typeof _flotilla_v1_DeploymentState_Phase[keyof typeof _flotilla_v1_DeploymentState_Phase]

export interface DeploymentState {
  'name'?: (string);
  'uid'?: (string);
  'sequence'?: (number | string | Long);
  'deploymentId'?: (string);
  'phase'?: (_flotilla_v1_DeploymentState_Phase);
  'message'?: (string);
  'retryAt'?: (string);
  'release'?: (_flotilla_v1_Release | null);
  'ready'?: (boolean);
  'notReady'?: (_flotilla_v1_ResourceState)[];
  'counts'?: (_flotilla_v1_ResourceCounts | null);
  'chartDigest'?: (string);
  'code'?: (string);
  'resources'?: (_flotilla_v1_ResourceState)[];
  'incomplete'?: (boolean);
  'conditions'?: (_flotilla_v1_ReleaseCondition)[];
  'history'?: (_flotilla_v1_Revision)[];
  'drift'?: (_flotilla_v1_Drift | null);
  'failures'?: (number);
  'source'?: (_flotilla_v1_SourceDigest | null);
  'request'?: (_flotilla_v1_RequestResult | null);
  'installFailures'?: (number);
  'upgradeFailures'?: (number);
  'notInstalled'?: (boolean);
  'cause'?: (string);
  'refusedAt'?: (string);
  'waitsFor'?: (string)[];
}

export interface DeploymentState__Output {
  'name': (string);
  'uid': (string);
  'sequence': (string);
  'deploymentId': (string);
  'phase': (_flotilla_v1_DeploymentState_Phase__Output);
  'message': (string);
  'retryAt': (string);
  'release': (_flotilla_v1_Release__Output | null);
  'ready': (boolean);
  'notReady': (_flotilla_v1_ResourceState__Output)[];
  'counts': (_flotilla_v1_ResourceCounts__Output | null);
  'chartDigest': (string);
  'code': (string);
  'resources': (_flotilla_v1_ResourceState__Output)[];
  'incomplete': (boolean);
  'conditions': (_flotilla_v1_ReleaseCondition__Output)[];
  'history': (_flotilla_v1_Revision__Output)[];
  'drift': (_flotilla_v1_Drift__Output | null);
  'failures': (number);
  'source': (_flotilla_v1_SourceDigest__Output | null);
  'request': (_flotilla_v1_RequestResult__Output | null);
  'installFailures': (number);
  'upgradeFailures': (number);
  'notInstalled': (boolean);
  'cause': (string);
  'refusedAt': (string);
  'waitsFor': (string)[];
}
