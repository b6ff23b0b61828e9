// Original file: proto/fleet.proto

import type { Hello as _flotilla_v1_Hello, Hello__Output as _flotilla_v1_Hello__Output } from '../../flotilla/v1/Hello.ts';
import type { DeploymentAck as _flotilla_v1_DeploymentAck, DeploymentAck__Output as _flotilla_v1_DeploymentAck__Output } from '../../flotilla/v1/DeploymentAck.ts';
import type { DeploymentState as _flotilla_v1_DeploymentState, DeploymentState__Output as _flotilla_v1_DeploymentState__Output } from '../../flotilla/v1/DeploymentState.ts';
import type { Withdrawn as _flotilla_v1_Withdrawn, Withdrawn__Output as _flotilla_v1_Withdrawn__Output } from '../../flotilla/v1/Withdrawn.ts';
import type { AnswerChunk as _flotilla_v1_AnswerChunk, AnswerChunk__Output as _flotilla_v1_AnswerChunk__Output } from '../../flotilla/v1/AnswerChunk.ts';

export interface AgentMessage {
  'hello'?: (_flotilla_v1_Hello | null);
  'deploymentAck'?: (_flotilla_v1_DeploymentAck | null);
  'state'?: (_flotilla_v1_DeploymentState | null);
  'withdrawn'?: (_flotilla_v1_Withdrawn | null);
  'answerChunk'?: (_flotilla_v1_AnswerChunk | null);
  'body'?: "hello"|"deploymentAck"|"state"|"withdrawn"|"answerChunk";
}

export interface AgentMessage__Output {
  'hello'?: (_flotilla_v1_Hello__Output | null);
  'deploymentAck'?: (_flotilla_v1_DeploymentAck__Output | null);
  'state'?: (_flotilla_v1_DeploymentState__Output | null);
  'withdrawn'?: (_flotilla_v1_Withdrawn__Output | null);
  'answerChunk'?: (_flotilla_v1_AnswerChunk__Output | null);
  'body'?: "hello"|"deploymentAck"|"state"|"withdrawn"|"answerChunk";
}
