// Original file: proto/fleet.proto

import type * as grpc from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import type { AgentMessage as _flotilla_v1_AgentMessage, AgentMessage__Output as _flotilla_v1_AgentMessage__Output } from '../../flotilla/v1/AgentMessage.ts';
import type { EnrollRequest as _flotilla_v1_EnrollRequest, EnrollRequest__Output as _flotilla_v1_EnrollRequest__Output } from '../../flotilla/v1/EnrollRequest.ts';
import type { EnrollResponse as _flotilla_v1_EnrollResponse, EnrollResponse__Output as _flotilla_v1_EnrollResponse__Output } from '../../flotilla/v1/EnrollResponse.ts';
import type { HubMessage as _flotilla_v1_HubMessage, HubMessage__Output as _flotilla_v1_HubMessage__Output } from '../../flotilla/v1/HubMessage.ts';
import type { RenewRequest as _flotilla_v1_RenewRequest, RenewRequest__Output as _flotilla_v1_RenewRequest__Output } from '../../flotilla/v1/RenewRequest.ts';
import type { RenewResponse as _flotilla_v1_RenewResponse, RenewResponse__Output as _flotilla_v1_RenewResponse__Output } from '../../flotilla/v1/RenewResponse.ts';

export interface FleetClient extends grpc.Client {
  Connect(metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientDuplexStream<_flotilla_v1_AgentMessage, _flotilla_v1_HubMessage__Output>;
  Connect(options?: grpc.CallOptions): grpc.ClientDuplexStream<_flotilla_v1_AgentMessage, _flotilla_v1_HubMessage__Output>;
  connect(metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientDuplexStream<_flotilla_v1_AgentMessage, _flotilla_v1_HubMessage__Output>;
  connect(options?: grpc.CallOptions): grpc.ClientDuplexStream<_flotilla_v1_AgentMessage, _flotilla_v1_HubMessage__Output>;
  
  Enroll(argument: _flotilla_v1_EnrollRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_flotilla_v1_EnrollResponse__Output>): grpc.ClientUnaryCall;
  Enroll(argument: _flotilla_v1_EnrollRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_flotilla_v1_EnrollResponse__Output>): grpc.ClientUnaryCall;
  Enroll(argument: _flotilla_v1_EnrollRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_flotilla_v1_EnrollResponse__Output>): grpc.ClientUnaryCall;
  Enroll(argument: _flotilla_v1_EnrollRequest, callback: grpc.requestCallback<_flotilla_v1_EnrollResponse__Output>): grpc.ClientUnaryCall;
  enroll(argument: _flotilla_v1_EnrollRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_flotilla_v1_EnrollResponse__Output>): grpc.ClientUnaryCall;
  enroll(argument: _flotilla_v1_EnrollRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_flotilla_v1_EnrollResponse__Output>): grpc.ClientUnaryCall;
  enroll(argument: _flotilla_v1_EnrollRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_flotilla_v1_EnrollResponse__Output>): grpc.ClientUnaryCall;
  enroll(argument: _flotilla_v1_EnrollRequest, callback: grpc.requestCallback<_flotilla_v1_EnrollResponse__Output>): grpc.ClientUnaryCall;
  
  Renew(argument: _flotilla_v1_RenewRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_flotilla_v1_RenewResponse__Output>): grpc.ClientUnaryCall;
  Renew(argument: _flotilla_v1_RenewRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_flotilla_v1_RenewResponse__Output>): grpc.ClientUnaryCall;
  Renew(argument: _flotilla_v1_RenewRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_flotilla_v1_RenewResponse__Output>): grpc.ClientUnaryCall;
  Renew(argument: _flotilla_v1_RenewRequest, callback: grpc.requestCallback<_flotilla_v1_RenewResponse__Output>): grpc.ClientUnaryCall;
  renew(argument: _flotilla_v1_RenewRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_flotilla_v1_RenewResponse__Output>): grpc.ClientUnaryCall;
  renew(argument: _flotilla_v1_RenewRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_flotilla_v1_RenewResponse__Output>): grpc.ClientUnaryCall;
  renew(argument: _flotilla_v1_RenewRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_flotilla_v1_RenewResponse__Output>): grpc.ClientUnaryCall;
  renew(argument: _flotilla_v1_RenewRequest, callback: grpc.requestCallback<_flotilla_v1_RenewResponse__Output>): grpc.ClientUnaryCall;
  
}

export interface FleetHandlers extends grpc.UntypedServiceImplementation {
  Connect: grpc.handleBidiStreamingCall<_flotilla_v1_AgentMessage__Output, _flotilla_v1_HubMessage>;
  
  Enroll: grpc.handleUnaryCall<_flotilla_v1_EnrollRequest__Output, _flotilla_v1_EnrollResponse>;
  
  Renew: grpc.handleUnaryCall<_flotilla_v1_RenewRequest__Output, _flotilla_v1_RenewResponse>;
  
}

export interface FleetDefinition extends grpc.ServiceDefinition {
  Connect: MethodDefinition<_flotilla_v1_AgentMessage, _flotilla_v1_HubMessage, _flotilla_v1_AgentMessage__Output, _flotilla_v1_HubMessage__Output>
  Enroll: MethodDefinition<_flotilla_v1_EnrollRequest, _flotilla_v1_EnrollResponse, _flotilla_v1_EnrollRequest__Output, _flotilla_v1_EnrollResponse__Output>
  Renew: MethodDefinition<_flotilla_v1_RenewRequest, _flotilla_v1_RenewResponse, _flotilla_v1_RenewRequest__Output, _flotilla_v1_RenewResponse__Output>
}
