/**
 * What others take of `node:http` that is not only a type. A plain import reads all that the module gives, and its
 * `WebSocket` loads the whole of undici: 0.1 s of processor time at every start, for the server and each command.
 */
export const { createServer, request, STATUS_CODES } = process.getBuiltinModule('node:http');
