import { Link } from '@tanstack/react-router';
import { RotateCw } from 'lucide-react';
import type { ResultOf } from '../../../../src/operations/table.ts';
import { Badge, type Tone } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { CodeBlock, Copyable } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { KeyValue } from '../../parts/page.tsx';
import { EmptyState, Fetched } from '../../parts/states.tsx';
import { DueAt, Said, Time } from '../../parts/values.tsx';
import { useAct, useCall } from '../../queries.ts';
import { TryDetails } from '../webhooks/tries.tsx';
import { type Endpoint, isDown, timeOfEvent } from '../webhooks/words.ts';

/** What an endpoint was told of an event. */
export type Delivery = ResultOf<'webhookDeliveries'>['deliveries'][number];

const TONES: Readonly<Record<Delivery['status'], readonly [Tone, string]>> = {
  pending: ['warn', 'Pending'],
  delivered: ['good', 'Delivered'],
  failed: ['bad', 'Failed'],
};

/** Where a delivery stands. */
export function DeliveryBadge({ status }: { readonly status: Delivery['status'] }) {
  const [tone, words] = TONES[status];
  return (
    <Badge tone={tone} dot>
      {words}
    </Badge>
  );
}

/** A delivery with each of its tries, and what was posted. */
export function DeliveryDrawer({
  endpoint,
  sequence,
  onClose,
}: {
  readonly endpoint: Endpoint;
  readonly sequence: number;
  readonly onClose: () => void;
}) {
  // The page that begins with it.
  const page = useCall(
    'webhookDeliveries',
    { which: endpoint.id, limit: 1, cursor: String(sequence + 1) },
    { topics: ['webhooks'] },
  );
  const delivery = page.data?.deliveries.find((one) => one.sequence === sequence);
  const retry = useAct('retryWebhookDelivery');
  return (
    <Dialog
      kind="drawer"
      size="large"
      onClose={onClose}
      title={
        delivery ? (
          <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <code className="font-mono">{delivery.type}</code>
            <DeliveryBadge status={delivery.status} />
          </span>
        ) : (
          'A delivery'
        )
      }
      description={<Said text={endpoint.url} />}
      footer={
        delivery && (
          <>
            {/* Not a toast, which would lie over the button. */}
            <span role="status" className="mr-auto self-center text-sm text-soft">
              {retry.isSuccess && 'It is told again.'}
            </span>
            <Button
              icon={RotateCw}
              label={delivery.status === 'pending' ? 'Try now' : 'Tell it again'}
              busy={retry.isPending}
              disabled={isDown(endpoint)}
              onClick={() => retry.mutate({ which: endpoint.id, eventId: delivery.eventId })}
            />
          </>
        )
      }
    >
      <Fetched query={page} lines={8}>
        {() =>
          delivery ? (
            <Details delivery={delivery} endpoint={endpoint} />
          ) : (
            <EmptyState title="There is no such delivery">It is forgotten with its event.</EmptyState>
          )
        }
      </Fetched>
    </Dialog>
  );
}

function Details({ delivery, endpoint }: { readonly delivery: Delivery; readonly endpoint: Endpoint }) {
  const { eventId, sequence, tries, nextTryAt } = delivery;
  const log = useCall('events', { filter: {}, limit: 1, after: sequence - 1, before: null });
  const event = log.data?.events.find(({ data }) => data.sequence === sequence);
  const message = event?.data.message ?? null;
  const happenedAt = timeOfEvent(eventId);
  return (
    <div className="space-y-6">
      <KeyValue
        rows={{
          Event: <Copyable text={eventId} />,
          Happened: happenedAt === null ? undefined : <Time at={happenedAt} exact />,
          'Next try': nextTryAt === null ? undefined : <DueAt at={nextTryAt} />,
          Message:
            message === null ? undefined : (
              <Link to="/messages/$id" params={{ id: message.id }} className="link break-all">
                {message.id}
              </Link>
            ),
          Recipient: event?.data.recipient ? <Said text={event.data.recipient.address} /> : undefined,
        }}
      />
      <section>
        <h3 className="mb-2 font-semibold">Tries</h3>
        {tries.length === 0 ? (
          <p className="text-soft">It was not tried yet.</p>
        ) : (
          <ol aria-label="Tries, the newest first" className="space-y-5">
            {tries.toReversed().map((one) => (
              <li key={one.at} className="border-l-2 border-line pl-3">
                <TryDetails of={one} />
              </li>
            ))}
          </ol>
        )}
      </section>
      <section>
        <h3 className="mb-1 font-semibold">What is posted</h3>
        <p className="mb-2 text-sm text-soft">
          The event as it stands in the log, here with line breaks
          {endpoint.include.includes('subject') && message !== null && '; the request has the subject, too'}.
          Every try, and a replay, posts the same bytes, under the same webhook-id.
        </p>
        <Fetched query={log} lines={4}>
          {() =>
            event === undefined ? (
              <p className="text-soft">The event is no longer kept: it cannot be told again.</p>
            ) : (
              <CodeBlock label="The body of the request" code={JSON.stringify(event, null, 2)} wrap />
            )
          }
        </Fetched>
      </section>
    </div>
  );
}
