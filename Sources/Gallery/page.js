  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($('data').textContent);
  $('data').remove(); // Megabytes of text that are not needed any more.
  // A page of something live is written at intervals, even without news: an older one has been left behind.
  const isStale = data.stale_after_s > 0 && Date.now() - Date.parse(data.written_at) > data.stale_after_s * 1000;
  const number = (value) => value.toLocaleString('en');
  const short = (value, unit) => `${value.toLocaleString('en', { maximumSignificantDigits: 3 })} ${unit}`;
  const counted = (count, one, more) => `${number(count)} ${count === 1 ? one : more}`;
  const moment = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

  // What comes from outside becomes a text node or a checked attribute: nothing here parses HTML.
  function make(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const name in attributes) node.setAttribute(name, attributes[name]);
    node.append(...children.filter((child) => child !== undefined && child !== null && child !== ''));
    return node;
  }
  const bdi = (text) => make('bdi', { dir: 'auto' }, text);
  function time(text) {
    const date = new Date(text);
    return text && make('time', { datetime: text }, Number.isNaN(date.getTime()) ? text : moment.format(date));
  }
  function duration(seconds) {
    if (seconds < 0.0005) return 'less than 1 ms';
    if (seconds < 0.9995) return `${Math.round(seconds * 1000)} ms`;
    if (seconds < 60) return short(seconds, 's');
    const minutes = Math.floor(seconds / 60);
    return minutes < 60 ? `${minutes} min ${Math.floor(seconds % 60)} s` : `${number(Math.floor(minutes / 60))} h ${minutes % 60} min`;
  }
