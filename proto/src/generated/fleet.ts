import type * as grpc from '@grpc/grpc-js';
import type { MessageTypeDefinition } from '@grpc/proto-loader';

import type { AgentMessage as _flotilla_v1_AgentMessage, AgentMessage__Output as _flotilla_v1_AgentMessage__Output } from './flotilla/v1/AgentMessage.ts';
import type { AgentRequest as _flotilla_v1_AgentRequest, AgentRequest__Output as _flotilla_v1_AgentRequest__Output } from './flotilla/v1/AgentRequest.ts';
import type { AnswerChunk as _flotilla_v1_AnswerChunk, AnswerChunk__Output as _flotilla_v1_AnswerChunk__Output } from './flotilla/v1/AnswerChunk.ts';
import type { Authorities as _flotilla_v1_Authorities, Authorities__Output as _flotilla_v1_Authorities__Output } from './flotilla/v1/Authorities.ts';
import type { Certificate as _flotilla_v1_Certificate, Certificate__Output as _flotilla_v1_Certificate__Output } from './flotilla/v1/Certificate.ts';
import type { ClusterInfo as _flotilla_v1_ClusterInfo, ClusterInfo__Output as _flotilla_v1_ClusterInfo__Output } from './flotilla/v1/ClusterInfo.ts';
import type { Deployment as _flotilla_v1_Deployment, Deployment__Output as _flotilla_v1_Deployment__Output } from './flotilla/v1/Deployment.ts';
import type { DeploymentAck as _flotilla_v1_DeploymentAck, DeploymentAck__Output as _flotilla_v1_DeploymentAck__Output } from './flotilla/v1/DeploymentAck.ts';
import type { DeploymentState as _flotilla_v1_DeploymentState, DeploymentState__Output as _flotilla_v1_DeploymentState__Output } from './flotilla/v1/DeploymentState.ts';
import type { DiffRequest as _flotilla_v1_DiffRequest, DiffRequest__Output as _flotilla_v1_DiffRequest__Output } from './flotilla/v1/DiffRequest.ts';
import type { Drift as _flotilla_v1_Drift, Drift__Output as _flotilla_v1_Drift__Output } from './flotilla/v1/Drift.ts';
import type { DriftEvent as _flotilla_v1_DriftEvent, DriftEvent__Output as _flotilla_v1_DriftEvent__Output } from './flotilla/v1/DriftEvent.ts';
import type { DriftedObject as _flotilla_v1_DriftedObject, DriftedObject__Output as _flotilla_v1_DriftedObject__Output } from './flotilla/v1/DriftedObject.ts';
import type { EnrollRequest as _flotilla_v1_EnrollRequest, EnrollRequest__Output as _flotilla_v1_EnrollRequest__Output } from './flotilla/v1/EnrollRequest.ts';
import type { EnrollResponse as _flotilla_v1_EnrollResponse, EnrollResponse__Output as _flotilla_v1_EnrollResponse__Output } from './flotilla/v1/EnrollResponse.ts';
import type { EventsRequest as _flotilla_v1_EventsRequest, EventsRequest__Output as _flotilla_v1_EventsRequest__Output } from './flotilla/v1/EventsRequest.ts';
import type { FleetClient as _flotilla_v1_FleetClient, FleetDefinition as _flotilla_v1_FleetDefinition } from './flotilla/v1/Fleet.ts';
import type { Hello as _flotilla_v1_Hello, Hello__Output as _flotilla_v1_Hello__Output } from './flotilla/v1/Hello.ts';
import type { HistoryRequest as _flotilla_v1_HistoryRequest, HistoryRequest__Output as _flotilla_v1_HistoryRequest__Output } from './flotilla/v1/HistoryRequest.ts';
import type { HubMessage as _flotilla_v1_HubMessage, HubMessage__Output as _flotilla_v1_HubMessage__Output } from './flotilla/v1/HubMessage.ts';
import type { LogRequest as _flotilla_v1_LogRequest, LogRequest__Output as _flotilla_v1_LogRequest__Output } from './flotilla/v1/LogRequest.ts';
import type { ObservedDeployment as _flotilla_v1_ObservedDeployment, ObservedDeployment__Output as _flotilla_v1_ObservedDeployment__Output } from './flotilla/v1/ObservedDeployment.ts';
import type { ObservedObject as _flotilla_v1_ObservedObject, ObservedObject__Output as _flotilla_v1_ObservedObject__Output } from './flotilla/v1/ObservedObject.ts';
import type { PlanRequest as _flotilla_v1_PlanRequest, PlanRequest__Output as _flotilla_v1_PlanRequest__Output } from './flotilla/v1/PlanRequest.ts';
import type { PlanVerification as _flotilla_v1_PlanVerification, PlanVerification__Output as _flotilla_v1_PlanVerification__Output } from './flotilla/v1/PlanVerification.ts';
import type { ReferencedObject as _flotilla_v1_ReferencedObject, ReferencedObject__Output as _flotilla_v1_ReferencedObject__Output } from './flotilla/v1/ReferencedObject.ts';
import type { ReferencedObjectWithdrawal as _flotilla_v1_ReferencedObjectWithdrawal, ReferencedObjectWithdrawal__Output as _flotilla_v1_ReferencedObjectWithdrawal__Output } from './flotilla/v1/ReferencedObjectWithdrawal.ts';
import type { Release as _flotilla_v1_Release, Release__Output as _flotilla_v1_Release__Output } from './flotilla/v1/Release.ts';
import type { ReleaseCondition as _flotilla_v1_ReleaseCondition, ReleaseCondition__Output as _flotilla_v1_ReleaseCondition__Output } from './flotilla/v1/ReleaseCondition.ts';
import type { ReleaseRequest as _flotilla_v1_ReleaseRequest, ReleaseRequest__Output as _flotilla_v1_ReleaseRequest__Output } from './flotilla/v1/ReleaseRequest.ts';
import type { ReleaseTest as _flotilla_v1_ReleaseTest, ReleaseTest__Output as _flotilla_v1_ReleaseTest__Output } from './flotilla/v1/ReleaseTest.ts';
import type { RenewRequest as _flotilla_v1_RenewRequest, RenewRequest__Output as _flotilla_v1_RenewRequest__Output } from './flotilla/v1/RenewRequest.ts';
import type { RenewResponse as _flotilla_v1_RenewResponse, RenewResponse__Output as _flotilla_v1_RenewResponse__Output } from './flotilla/v1/RenewResponse.ts';
import type { RequestCancellation as _flotilla_v1_RequestCancellation, RequestCancellation__Output as _flotilla_v1_RequestCancellation__Output } from './flotilla/v1/RequestCancellation.ts';
import type { RequestResult as _flotilla_v1_RequestResult, RequestResult__Output as _flotilla_v1_RequestResult__Output } from './flotilla/v1/RequestResult.ts';
import type { ResourceCounts as _flotilla_v1_ResourceCounts, ResourceCounts__Output as _flotilla_v1_ResourceCounts__Output } from './flotilla/v1/ResourceCounts.ts';
import type { ResourceState as _flotilla_v1_ResourceState, ResourceState__Output as _flotilla_v1_ResourceState__Output } from './flotilla/v1/ResourceState.ts';
import type { ResourcesRequest as _flotilla_v1_ResourcesRequest, ResourcesRequest__Output as _flotilla_v1_ResourcesRequest__Output } from './flotilla/v1/ResourcesRequest.ts';
import type { Revision as _flotilla_v1_Revision, Revision__Output as _flotilla_v1_Revision__Output } from './flotilla/v1/Revision.ts';
import type { SourceDigest as _flotilla_v1_SourceDigest, SourceDigest__Output as _flotilla_v1_SourceDigest__Output } from './flotilla/v1/SourceDigest.ts';
import type { StateAck as _flotilla_v1_StateAck, StateAck__Output as _flotilla_v1_StateAck__Output } from './flotilla/v1/StateAck.ts';
import type { Synced as _flotilla_v1_Synced, Synced__Output as _flotilla_v1_Synced__Output } from './flotilla/v1/Synced.ts';
import type { ValuesRequest as _flotilla_v1_ValuesRequest, ValuesRequest__Output as _flotilla_v1_ValuesRequest__Output } from './flotilla/v1/ValuesRequest.ts';
import type { Welcome as _flotilla_v1_Welcome, Welcome__Output as _flotilla_v1_Welcome__Output } from './flotilla/v1/Welcome.ts';
import type { Withdrawal as _flotilla_v1_Withdrawal, Withdrawal__Output as _flotilla_v1_Withdrawal__Output } from './flotilla/v1/Withdrawal.ts';
import type { Withdrawn as _flotilla_v1_Withdrawn, Withdrawn__Output as _flotilla_v1_Withdrawn__Output } from './flotilla/v1/Withdrawn.ts';

type SubtypeConstructor<Constructor extends new (...args: any) => any, Subtype> = {
  new(...args: ConstructorParameters<Constructor>): Subtype;
};

export interface ProtoGrpcType {
  flotilla: {
    v1: {
      AgentMessage: MessageTypeDefinition<_flotilla_v1_AgentMessage, _flotilla_v1_AgentMessage__Output>
      AgentRequest: MessageTypeDefinition<_flotilla_v1_AgentRequest, _flotilla_v1_AgentRequest__Output>
      AnswerChunk: MessageTypeDefinition<_flotilla_v1_AnswerChunk, _flotilla_v1_AnswerChunk__Output>
      Authorities: MessageTypeDefinition<_flotilla_v1_Authorities, _flotilla_v1_Authorities__Output>
      Certificate: MessageTypeDefinition<_flotilla_v1_Certificate, _flotilla_v1_Certificate__Output>
      ClusterInfo: MessageTypeDefinition<_flotilla_v1_ClusterInfo, _flotilla_v1_ClusterInfo__Output>
      Deployment: MessageTypeDefinition<_flotilla_v1_Deployment, _flotilla_v1_Deployment__Output>
      DeploymentAck: MessageTypeDefinition<_flotilla_v1_DeploymentAck, _flotilla_v1_DeploymentAck__Output>
      DeploymentState: MessageTypeDefinition<_flotilla_v1_DeploymentState, _flotilla_v1_DeploymentState__Output>
      DiffRequest: MessageTypeDefinition<_flotilla_v1_DiffRequest, _flotilla_v1_DiffRequest__Output>
      Drift: MessageTypeDefinition<_flotilla_v1_Drift, _flotilla_v1_Drift__Output>
      DriftEvent: MessageTypeDefinition<_flotilla_v1_DriftEvent, _flotilla_v1_DriftEvent__Output>
      DriftedObject: MessageTypeDefinition<_flotilla_v1_DriftedObject, _flotilla_v1_DriftedObject__Output>
      EnrollRequest: MessageTypeDefinition<_flotilla_v1_EnrollRequest, _flotilla_v1_EnrollRequest__Output>
      EnrollResponse: MessageTypeDefinition<_flotilla_v1_EnrollResponse, _flotilla_v1_EnrollResponse__Output>
      EventsRequest: MessageTypeDefinition<_flotilla_v1_EventsRequest, _flotilla_v1_EventsRequest__Output>
      Fleet: SubtypeConstructor<typeof grpc.Client, _flotilla_v1_FleetClient> & { service: _flotilla_v1_FleetDefinition }
      Hello: MessageTypeDefinition<_flotilla_v1_Hello, _flotilla_v1_Hello__Output>
      HistoryRequest: MessageTypeDefinition<_flotilla_v1_HistoryRequest, _flotilla_v1_HistoryRequest__Output>
      HubMessage: MessageTypeDefinition<_flotilla_v1_HubMessage, _flotilla_v1_HubMessage__Output>
      LogRequest: MessageTypeDefinition<_flotilla_v1_LogRequest, _flotilla_v1_LogRequest__Output>
      ObservedDeployment: MessageTypeDefinition<_flotilla_v1_ObservedDeployment, _flotilla_v1_ObservedDeployment__Output>
      ObservedObject: MessageTypeDefinition<_flotilla_v1_ObservedObject, _flotilla_v1_ObservedObject__Output>
      PlanRequest: MessageTypeDefinition<_flotilla_v1_PlanRequest, _flotilla_v1_PlanRequest__Output>
      PlanVerification: MessageTypeDefinition<_flotilla_v1_PlanVerification, _flotilla_v1_PlanVerification__Output>
      ReferencedObject: MessageTypeDefinition<_flotilla_v1_ReferencedObject, _flotilla_v1_ReferencedObject__Output>
      ReferencedObjectWithdrawal: MessageTypeDefinition<_flotilla_v1_ReferencedObjectWithdrawal, _flotilla_v1_ReferencedObjectWithdrawal__Output>
      Release: MessageTypeDefinition<_flotilla_v1_Release, _flotilla_v1_Release__Output>
      ReleaseCondition: MessageTypeDefinition<_flotilla_v1_ReleaseCondition, _flotilla_v1_ReleaseCondition__Output>
      ReleaseRequest: MessageTypeDefinition<_flotilla_v1_ReleaseRequest, _flotilla_v1_ReleaseRequest__Output>
      ReleaseTest: MessageTypeDefinition<_flotilla_v1_ReleaseTest, _flotilla_v1_ReleaseTest__Output>
      RenewRequest: MessageTypeDefinition<_flotilla_v1_RenewRequest, _flotilla_v1_RenewRequest__Output>
      RenewResponse: MessageTypeDefinition<_flotilla_v1_RenewResponse, _flotilla_v1_RenewResponse__Output>
      RequestCancellation: MessageTypeDefinition<_flotilla_v1_RequestCancellation, _flotilla_v1_RequestCancellation__Output>
      RequestResult: MessageTypeDefinition<_flotilla_v1_RequestResult, _flotilla_v1_RequestResult__Output>
      ResourceCounts: MessageTypeDefinition<_flotilla_v1_ResourceCounts, _flotilla_v1_ResourceCounts__Output>
      ResourceState: MessageTypeDefinition<_flotilla_v1_ResourceState, _flotilla_v1_ResourceState__Output>
      ResourcesRequest: MessageTypeDefinition<_flotilla_v1_ResourcesRequest, _flotilla_v1_ResourcesRequest__Output>
      Revision: MessageTypeDefinition<_flotilla_v1_Revision, _flotilla_v1_Revision__Output>
      SourceDigest: MessageTypeDefinition<_flotilla_v1_SourceDigest, _flotilla_v1_SourceDigest__Output>
      StateAck: MessageTypeDefinition<_flotilla_v1_StateAck, _flotilla_v1_StateAck__Output>
      Synced: MessageTypeDefinition<_flotilla_v1_Synced, _flotilla_v1_Synced__Output>
      ValuesRequest: MessageTypeDefinition<_flotilla_v1_ValuesRequest, _flotilla_v1_ValuesRequest__Output>
      Welcome: MessageTypeDefinition<_flotilla_v1_Welcome, _flotilla_v1_Welcome__Output>
      Withdrawal: MessageTypeDefinition<_flotilla_v1_Withdrawal, _flotilla_v1_Withdrawal__Output>
      Withdrawn: MessageTypeDefinition<_flotilla_v1_Withdrawn, _flotilla_v1_Withdrawn__Output>
    }
  }
}

