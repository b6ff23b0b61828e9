import type * as grpc from '@grpc/grpc-js';
import type { MessageTypeDefinition } from '@grpc/proto-loader';

import type { AgentMessage as _flotilla_v1_AgentMessage, AgentMessage__Output as _flotilla_v1_AgentMessage__Output } from './flotilla/v1/AgentMessage.ts';
import type { Authorities as _flotilla_v1_Authorities, Authorities__Output as _flotilla_v1_Authorities__Output } from './flotilla/v1/Authorities.ts';
import type { Certificate as _flotilla_v1_Certificate, Certificate__Output as _flotilla_v1_Certificate__Output } from './flotilla/v1/Certificate.ts';
import type { Deployment as _flotilla_v1_Deployment, Deployment__Output as _flotilla_v1_Deployment__Output } from './flotilla/v1/Deployment.ts';
import type { DeploymentState as _flotilla_v1_DeploymentState, DeploymentState__Output as _flotilla_v1_DeploymentState__Output } from './flotilla/v1/DeploymentState.ts';
import type { EnrollRequest as _flotilla_v1_EnrollRequest, EnrollRequest__Output as _flotilla_v1_EnrollRequest__Output } from './flotilla/v1/EnrollRequest.ts';
import type { EnrollResponse as _flotilla_v1_EnrollResponse, EnrollResponse__Output as _flotilla_v1_EnrollResponse__Output } from './flotilla/v1/EnrollResponse.ts';
import type { Facts as _flotilla_v1_Facts, Facts__Output as _flotilla_v1_Facts__Output } from './flotilla/v1/Facts.ts';
import type { FleetClient as _flotilla_v1_FleetClient, FleetDefinition as _flotilla_v1_FleetDefinition } from './flotilla/v1/Fleet.ts';
import type { HeldSupply as _flotilla_v1_HeldSupply, HeldSupply__Output as _flotilla_v1_HeldSupply__Output } from './flotilla/v1/HeldSupply.ts';
import type { Hello as _flotilla_v1_Hello, Hello__Output as _flotilla_v1_Hello__Output } from './flotilla/v1/Hello.ts';
import type { Holding as _flotilla_v1_Holding, Holding__Output as _flotilla_v1_Holding__Output } from './flotilla/v1/Holding.ts';
import type { HubMessage as _flotilla_v1_HubMessage, HubMessage__Output as _flotilla_v1_HubMessage__Output } from './flotilla/v1/HubMessage.ts';
import type { Received as _flotilla_v1_Received, Received__Output as _flotilla_v1_Received__Output } from './flotilla/v1/Received.ts';
import type { Release as _flotilla_v1_Release, Release__Output as _flotilla_v1_Release__Output } from './flotilla/v1/Release.ts';
import type { RenewRequest as _flotilla_v1_RenewRequest, RenewRequest__Output as _flotilla_v1_RenewRequest__Output } from './flotilla/v1/RenewRequest.ts';
import type { RenewResponse as _flotilla_v1_RenewResponse, RenewResponse__Output as _flotilla_v1_RenewResponse__Output } from './flotilla/v1/RenewResponse.ts';
import type { ResourceCounts as _flotilla_v1_ResourceCounts, ResourceCounts__Output as _flotilla_v1_ResourceCounts__Output } from './flotilla/v1/ResourceCounts.ts';
import type { ResourceState as _flotilla_v1_ResourceState, ResourceState__Output as _flotilla_v1_ResourceState__Output } from './flotilla/v1/ResourceState.ts';
import type { StateReceived as _flotilla_v1_StateReceived, StateReceived__Output as _flotilla_v1_StateReceived__Output } from './flotilla/v1/StateReceived.ts';
import type { Supply as _flotilla_v1_Supply, Supply__Output as _flotilla_v1_Supply__Output } from './flotilla/v1/Supply.ts';
import type { SupplyWithdrawal as _flotilla_v1_SupplyWithdrawal, SupplyWithdrawal__Output as _flotilla_v1_SupplyWithdrawal__Output } from './flotilla/v1/SupplyWithdrawal.ts';
import type { Synced as _flotilla_v1_Synced, Synced__Output as _flotilla_v1_Synced__Output } from './flotilla/v1/Synced.ts';
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
      Authorities: MessageTypeDefinition<_flotilla_v1_Authorities, _flotilla_v1_Authorities__Output>
      Certificate: MessageTypeDefinition<_flotilla_v1_Certificate, _flotilla_v1_Certificate__Output>
      Deployment: MessageTypeDefinition<_flotilla_v1_Deployment, _flotilla_v1_Deployment__Output>
      DeploymentState: MessageTypeDefinition<_flotilla_v1_DeploymentState, _flotilla_v1_DeploymentState__Output>
      EnrollRequest: MessageTypeDefinition<_flotilla_v1_EnrollRequest, _flotilla_v1_EnrollRequest__Output>
      EnrollResponse: MessageTypeDefinition<_flotilla_v1_EnrollResponse, _flotilla_v1_EnrollResponse__Output>
      Facts: MessageTypeDefinition<_flotilla_v1_Facts, _flotilla_v1_Facts__Output>
      Fleet: SubtypeConstructor<typeof grpc.Client, _flotilla_v1_FleetClient> & { service: _flotilla_v1_FleetDefinition }
      HeldSupply: MessageTypeDefinition<_flotilla_v1_HeldSupply, _flotilla_v1_HeldSupply__Output>
      Hello: MessageTypeDefinition<_flotilla_v1_Hello, _flotilla_v1_Hello__Output>
      Holding: MessageTypeDefinition<_flotilla_v1_Holding, _flotilla_v1_Holding__Output>
      HubMessage: MessageTypeDefinition<_flotilla_v1_HubMessage, _flotilla_v1_HubMessage__Output>
      Received: MessageTypeDefinition<_flotilla_v1_Received, _flotilla_v1_Received__Output>
      Release: MessageTypeDefinition<_flotilla_v1_Release, _flotilla_v1_Release__Output>
      RenewRequest: MessageTypeDefinition<_flotilla_v1_RenewRequest, _flotilla_v1_RenewRequest__Output>
      RenewResponse: MessageTypeDefinition<_flotilla_v1_RenewResponse, _flotilla_v1_RenewResponse__Output>
      ResourceCounts: MessageTypeDefinition<_flotilla_v1_ResourceCounts, _flotilla_v1_ResourceCounts__Output>
      ResourceState: MessageTypeDefinition<_flotilla_v1_ResourceState, _flotilla_v1_ResourceState__Output>
      StateReceived: MessageTypeDefinition<_flotilla_v1_StateReceived, _flotilla_v1_StateReceived__Output>
      Supply: MessageTypeDefinition<_flotilla_v1_Supply, _flotilla_v1_Supply__Output>
      SupplyWithdrawal: MessageTypeDefinition<_flotilla_v1_SupplyWithdrawal, _flotilla_v1_SupplyWithdrawal__Output>
      Synced: MessageTypeDefinition<_flotilla_v1_Synced, _flotilla_v1_Synced__Output>
      Welcome: MessageTypeDefinition<_flotilla_v1_Welcome, _flotilla_v1_Welcome__Output>
      Withdrawal: MessageTypeDefinition<_flotilla_v1_Withdrawal, _flotilla_v1_Withdrawal__Output>
      Withdrawn: MessageTypeDefinition<_flotilla_v1_Withdrawn, _flotilla_v1_Withdrawn__Output>
    }
  }
}

