import type { Access } from '../../call.ts';
import type { Provider } from '../provider.ts';
import { activateBounce, listBounces, showBounce, showStatistics } from './bounces.ts';
import { listOutbound, showOutbound } from './reading.ts';
import { refuseAsPostmark } from './refusals.ts';
import { sendBatch, sendEmail, sendTemplated, sendTemplatedBatch } from './sending.ts';
import { addSuppressions, deleteSuppressions, dumpSuppressions } from './suppressing.ts';

/** Postmark's API (contract-2 §C3): ids are UUIDs. */

const SEND: Access = { scheme: 'postmark', scopes: ['messages:send'], window: 'send' };
const READ: Access = { scheme: 'postmark', scopes: ['messages:read', 'messages:read_all'], window: 'read' };
const LOOK: Access = { scheme: 'postmark', scopes: ['suppressions:read', 'admin'], window: 'read' };
const SUPPRESS: Access = { scheme: 'postmark', scopes: ['suppressions:write', 'admin'], window: 'send' };
const STREAM = '/message-streams/{stream}/suppressions';

/** See contract-2 §C3. */
// biome-ignore format: a table
export const POSTMARK: Provider = {
  name: 'postmark',
  refuse: refuseAsPostmark,
  endpoints: [
    { method: 'POST', path: '/email',                            access: SEND,     handle: sendEmail },
    { method: 'POST', path: '/email/batch',                      access: SEND,     handle: sendBatch },
    { method: 'POST', path: '/email/withTemplate',               access: SEND,     handle: sendTemplated },
    { method: 'POST', path: '/email/batchWithTemplates',         access: SEND,     handle: sendTemplatedBatch },
    { method: 'GET',  path: '/messages/outbound',                access: READ,     handle: listOutbound },
    { method: 'GET',  path: '/messages/outbound/{id}/details',   access: READ,     handle: showOutbound },
    { method: 'GET',  path: `${STREAM}/dump`,                    access: LOOK,     handle: dumpSuppressions },
    { method: 'POST', path: STREAM,                              access: SUPPRESS, handle: addSuppressions },
    { method: 'POST', path: `${STREAM}/delete`,                  access: SUPPRESS, handle: deleteSuppressions },
    { method: 'GET',  path: '/bounces',                          access: READ,     handle: listBounces },
    { method: 'GET',  path: '/bounces/{id}',                     access: READ,     handle: showBounce },
    { method: 'PUT',  path: '/bounces/{id}/activate',            access: SUPPRESS, handle: activateBounce },
    { method: 'GET',  path: '/deliverystats',                    access: READ,     handle: showStatistics },
    // As the SDK writes it.
    { method: 'GET',  path: '/deliveryStats',                    access: READ,     handle: showStatistics },
  ],
};
