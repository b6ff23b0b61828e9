// Original file: proto/fleet.proto

import type { Hello as _flotilla_v1_Hello, Hello__Output as _flotilla_v1_Hello__Output } from '../../flotilla/v1/Hello.ts';
import type { Received as _flotilla_v1_Received, Received__Output as _flotilla_v1_Received__Output } from '../../flotilla/v1/Received.ts';
import type { DeploymentState as _flotilla_v1_DeploymentState, DeploymentState__Output as _flotilla_v1_DeploymentState__Output } from '../../flotilla/v1/DeploymentState.ts';
import type { Withdrawn as _flotilla_v1_Withdrawn, Withdrawn__Output as _flotilla_v1_Withdrawn__Output } from '../../flotilla/v1/Withdrawn.ts';

export interface AgentMessage {
  'hello'?: (_flotilla_v1_Hello | null);
  'received'?: (_flotilla_v1_Received | null);
  'state'?: (_flotilla_v1_DeploymentState | null);
  'withdrawn'?: (_flotilla_v1_Withdrawn | null);
  'body'?: "hello"|"received"|"state"|"withdrawn";
}

export interface AgentMessage__Output {
  'hello'?: (_flotilla_v1_Hello__Output | null);
  'received'?: (_flotilla_v1_Received__Output | null);
  'state'?: (_flotilla_v1_DeploymentState__Output | null);
  'withdrawn'?: (_flotilla_v1_Withdrawn__Output | null);
  'body'?: "hello"|"received"|"state"|"withdrawn";
}
