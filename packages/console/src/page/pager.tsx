/** Leads to other pages of a list. A direction without a function has no page. */
export function Pager({
  text,
  previous,
  next,
}: {
  readonly text: string;
  readonly previous: (() => void) | undefined;
  readonly next: (() => void) | undefined;
}) {
  return (
    <nav class="pager" aria-label="Pages">
      <span role="status">{text}</span>
      <button type="button" disabled={previous === undefined} onClick={previous}>
        Previous
      </button>
      <button type="button" disabled={next === undefined} onClick={next}>
        Next
      </button>
    </nav>
  );
}
