import { z } from 'zod';
import { MESSAGE_STATUSES } from '../domain/delivery.ts';
import { needed, text } from './command.ts';
import { changes, MAIL_TOPICS, type OperationsOf, operation, type Shown, told } from './operation.ts';
import { probeStep } from './relays.ts';

/** Test messages: whether mail that a relay is given arrives. */

/** Longer addresses are nobody's. */
const address = z.string().min(1).max(1000);

/** What happened to a test message. */
const testMessageStep = () =>
  probeStep().extend({
    /** `ACCEPTED`, `ATTEMPT`, then what came of it: `DELIVERED`, `RETRYING`, `FAILED`, or `WAITING`. */
    name: z.string(),
    /** The message. */
    id: z.string(),
    /** When it is tried again, of `WAITING`. */
    until: z.string().optional(),
  });

/** See {@link TEST_MESSAGE_OPERATIONS}. */
export type TestMessageStep = Shown<typeof testMessageStep>;

const testMessage = () =>
  z.strictObject({
    id: z.string(),
    /** As it was at the end of the wait: `queued` and `processing` if nothing had come of it. */
    status: z.enum(MESSAGE_STATUSES),
    steps: z.array(testMessageStep()),
  });

/** What became of a test message. */
export type TestMessage = Shown<typeof testMessage>;

/** What can be asked about whether mail arrives. */
export const TEST_MESSAGE_OPERATIONS = {
  sendTestMessage: operation({
    meaning:
      'Sends one short message through a relay alone, whatever the routes say, and reports what becomes of it: its first attempt, waited for at most a minute.',
    access: changes({
      words: 'Sent a test message through a relay',
      subject: 'name',
      told: told<TestMessage>(({ id, status }) => [undefined, { id, status }]),
      touches: MAIL_TOPICS,
    }),
    request: z.strictObject({
      name: z.string().min(1).max(64),
      to: address.describe('Who gets it: one address.'),
      from: address.nullable().default(null).describe("The sender; null for the relay's `testSender`."),
    }),
    result: testMessage,
    step: testMessageStep,
    commands: [
      {
        words: 'relays send-test',
        summary: 'send one short message through a relay alone, and tell what becomes of it',
        examples: [
          'waybill relays send-test out --to ann@example.net',
          'waybill relays send-test out --to ann@example.net --from shop@example.com',
        ],
        takes: {
          name: text('<name>', "the relay's name"),
          to: needed('--to <address>', 'who gets it'),
          from: text('--from <address>', 'the sender, if not the usual one', { absent: null }),
        },
        isBad: ({ status }) => status !== 'delivered',
      },
    ],
  }),
};

/** Those who carry them out. */
export type TestMessageOperations = OperationsOf<typeof TEST_MESSAGE_OPERATIONS>;
