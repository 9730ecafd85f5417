import { z } from 'zod';
import { ownerOf } from '../../domain/key.ts';
import { parseMailbox } from '../../domain/mailbox.ts';
import { isTag } from '../../domain/message.ts';
import { conditionName, type RouteFacts } from '../../domain/route-match.ts';
import type { Intake, RouteExplanation } from '../../engine/contract.ts';
import type { Clock } from '../../lib/clock.ts';
import { formatTimestamp } from '../../lib/clock.ts';
import { parseCidrs } from '../../lib/network.ts';
import type { Shown } from '../../operations/operation.ts';
import type { Call } from './call.ts';
import type { routeExplanationSchema } from './operator-answers.ts';
import { asInteger, type ParameterValues, readParameters, TIMESTAMP_RULE, timestampSchema } from './query.ts';

/** `GET /api/v1/routes/explain`: where mail would go, and why. */

/** How the null reverse-path is written. */
const NULL_SENDER = '<>';
const MAX_TAGS = 100;
const MAX_NAME = 100;

const addressSchema = z.string().transform((text, context) => {
  const parsed = parseMailbox(text);
  if (parsed.ok && parsed.value.name === null) return parsed.value.address;
  context.issues.push({ code: 'custom', input: text, message: 'not an address' });
  return z.NEVER;
});

const senderSchema = z.union([z.literal(NULL_SENDER).transform(() => ''), addressSchema]);

const nameSchema = z.string().min(1).max(MAX_NAME).optional();

/** Describes the mail in question. */
// biome-ignore format: a table
export const EXPLAIN_PARAMETERS = {
  from: { schema: senderSchema, code: 'address_syntax', rule: `an address such as ann@example.com, or ${NULL_SENDER}`, meaning: `The envelope's sender; ${NULL_SENDER} is the null reverse-path of bounces.`, example: 'ann@example.com' },
  to: { schema: addressSchema, code: 'address_syntax', rule: 'an address such as bob@example.org', meaning: 'The recipient.', example: 'bob@example.org' },
  tag: { schema: z.array(z.string().refine(isTag)).max(MAX_TAGS), repeatable: true, code: 'tag', rule: 'a tag of 1 to 128 printable characters', meaning: 'A tag of the message. May be given several times.', example: 'news' },
  key: { schema: nameSchema, code: 'name', rule: `a name of 1 to ${MAX_NAME} characters`, meaning: 'The name of the API key that submits it.', example: 'shop' },
  source: { schema: nameSchema, code: 'name', rule: `a name of 1 to ${MAX_NAME} characters`, meaning: 'The name in `listener.sources` of the device that submits it.', example: 'printer' },
  sourceAddress: { schema: z.string().refine((text) => !text.includes('/') && parseCidrs([text]).ok).optional(), code: 'address_syntax', rule: 'an IP address', meaning: 'The address that it is submitted from.', example: '192.0.2.7' },
  sizeBytes: { schema: z.int().min(0).default(0), fromText: asInteger, code: 'out_of_range', rule: 'a whole number of bytes', meaning: 'The size of the whole message.', example: '52428' },
  at: { schema: timestampSchema.optional(), code: 'timestamp', rule: TIMESTAMP_RULE, meaning: 'When it is to be sent (RFC 3339); now when absent.', example: '2026-11-20T22:30:00Z' },
};

type ExplanationJson = Shown<typeof routeExplanationSchema>;

/** What the endpoint needs. */
export interface ExplainDeps {
  readonly intake: Pick<Intake, 'explain'>;
  readonly clock: Clock;
}

/** Answers with the explanation. It shows the state of relays, so only administrators may ask. */
export async function answerExplain({ exchange }: Call, deps: ExplainDeps): Promise<void> {
  exchange.json(200, await explainQuery(exchange.query, deps));
}

/** Explains the mail that a query describes. Throws 400 `invalid_query`. */
export async function explainQuery(
  query: URLSearchParams,
  { intake, clock }: ExplainDeps,
): Promise<ExplanationJson> {
  const facts = factsOf(readParameters(query, EXPLAIN_PARAMETERS), clock.wall());
  return explanationJson(facts, await intake.explain(facts));
}

function factsOf(values: ParameterValues<typeof EXPLAIN_PARAMETERS>, now: number): RouteFacts {
  const { from, to, tag, key, source, sourceAddress, sizeBytes, at } = values;
  return {
    recipient: to,
    reversePath: from,
    tags: tag,
    keyId: source === undefined ? null : ownerOf({ name: source }),
    keyName: key ?? null,
    sourceAddress: sourceAddress ?? null,
    sizeBytes,
    now: at ?? now,
    test: false,
  };
}

function explanationJson(facts: RouteFacts, explanation: RouteExplanation): ExplanationJson {
  const { tableVersion, rules, rule, weighted, group, relay } = explanation;
  return {
    from: facts.reversePath,
    to: facts.recipient,
    at: formatTimestamp(facts.now),
    tableVersion,
    rules: rules.map(({ rule: name, unmet }) => ({
      rule: name,
      matched: unmet === null,
      unmet: unmet === null ? null : conditionName(unmet),
    })),
    rule,
    weighted,
    group,
    relay,
  };
}
