import { Link } from '@tanstack/react-router';
import { Trash2 } from 'lucide-react';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { Copyable } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { KeyValue } from '../../parts/page.tsx';
import { Fetched } from '../../parts/states.tsx';
import { Said, Time } from '../../parts/values.tsx';
import { useCall } from '../../queries.ts';
import { useMay } from '../../session.tsx';
import { type Entry, fromWords, REASONS, scopeWords } from './words.ts';

/** Everything about an entry, with what led to it. */
export function EntryDrawer({
  id,
  onClose,
  onRemove,
  onFilter,
}: {
  readonly id: string;
  readonly onClose: () => void;
  readonly onRemove: (entry: Entry) => void;
  readonly onFilter: (token: 'scope' | 'stream', value: string) => void;
}) {
  const entry = useCall('getSuppression', { which: id }, { topics: ['suppressions'] });
  const mayAct = useMay('operator');
  const { data } = entry;
  return (
    <Dialog
      kind="drawer"
      onClose={onClose}
      title={data === undefined ? 'A suppressed address' : <Said text={data.address} lines="several" />}
      description={data && REASONS[data.reason].means}
      footer={
        data && mayAct && <Button icon={Trash2} label="Remove from the list" onClick={() => onRemove(data)} />
      }
    >
      <Fetched query={entry} lines={8}>
        {(found) => <Facts entry={found} onFilter={onFilter} />}
      </Fetched>
    </Dialog>
  );
}

function Facts({
  entry: { id, scope, stream, reason, source, evidence, note, createdAt, updatedAt, expiresAt },
  onFilter,
}: {
  readonly entry: Entry;
  readonly onFilter: (token: 'scope' | 'stream', value: string) => void;
}) {
  return (
    <div className="space-y-6">
      <KeyValue
        rows={{
          Reason: (
            <Badge tone={REASONS[reason].tone} dot>
              {REASONS[reason].name}
            </Badge>
          ),
          From: fromWords(source),
          Stops: (
            <Filter onClick={() => onFilter('scope', scope)} label={`All entries of the scope ${scope}`}>
              {scopeWords(scope)}
            </Filter>
          ),
          'Only the stream':
            stream === null ? undefined : (
              <Filter
                onClick={() => onFilter('stream', stream)}
                label={`All entries of the stream ${stream}`}
              >
                {stream}
              </Filter>
            ),
          Since: <Time at={createdAt} exact />,
          'Made again': updatedAt === createdAt ? undefined : <Time at={updatedAt} exact />,
          Ends: expiresAt === null ? 'never by itself' : <Time at={expiresAt} exact ahead />,
          Note: note === '' ? undefined : <Said text={note} lines="several" />,
          Id: <Copyable text={id} />,
        }}
      />
      {evidence !== null && (
        <section>
          <h3 className="mb-2 font-semibold">What led to it</h3>
          <KeyValue
            rows={{
              When: <Time at={evidence.at} exact />,
              Code:
                [evidence.code, evidence.enhancedCode].filter((one) => one !== null).join(' ') || undefined,
              'What was said': <Said text={evidence.text} none="nothing" lines="several" mono />,
              Message:
                evidence.messageId === null ? undefined : (
                  <Link to="/messages/$id" params={{ id: evidence.messageId }} className="link break-all">
                    {evidence.messageId}
                  </Link>
                ),
            }}
          />
        </section>
      )}
    </div>
  );
}

function Filter({
  label,
  onClick,
  children,
}: {
  readonly label: string;
  readonly onClick: () => void;
  readonly children: string;
}) {
  return (
    <button type="button" title={label} onClick={onClick} className="link text-left break-words">
      {children}
    </button>
  );
}
