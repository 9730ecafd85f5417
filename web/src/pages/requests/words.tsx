/** Words of the documents: between backticks is code. */
export function Words({ text }: { readonly text: string | null }) {
  return (text ?? '').split('`').map((piece, place) =>
    place % 2 === 0 ? (
      piece
    ) : (
      <code key={piece} className="font-mono text-[0.95em]">
        {piece}
      </code>
    ),
  );
}
