package order

import "slices"

// Pool combines what several learners have learned apart, since all of them were as base was. Counts are added up. A weight is the mean of
// theirs, by how much each has learned of it: by the squares of its gradients since base. What one learner alone has met is taken as it
// is. The result does not depend on the order of the learners, but for the outcomes and pages that are kept: an equal part of each.
func Pool(base *Fused, learned []*Fused) *Fused {
	out := NewFused(nil, base.settings)
	out.Become(base)
	out.rel.pool(&base.rel, learned, func(o *Fused) *regression { return &o.rel })
	out.hub.pool(&base.hub, learned, func(o *Fused) *regression { return &o.hub })
	for _, o := range learned {
		out.mean.N += o.mean.N - base.mean.N
		out.mean.Sum += o.mean.Sum - base.mean.Sum
		out.groups.pool(&base.groups, &o.groups)
		out.relevance.pool(base.relevance, o.relevance)
	}
	others, ratings, scores := make([][]Views, len(learned)), make([][]rating, len(learned)), make([][]float32, len(learned))
	for i, o := range learned {
		others[i], ratings[i], scores[i] = o.relevance.others, o.relevance.ratings, o.scale.scores
		out.scale.seen += o.scale.seen - base.scale.seen
	}
	out.scale.scores = interleave(scores, maxScores)
	out.scale.fit()
	out.relevance.others, out.relevance.ratings = interleave(others, maxOthers), interleave(ratings, maxOthers)
	out.relevance.weigh()
	return out
}

// Become puts a copy of what another learner has learned in place of what this one has; its random draws stay its own.
func (o *Fused) Become(other *Fused) {
	state := other.copied()
	o.mu.Lock()
	defer o.mu.Unlock()
	random, rel, hub, of := o.relevance.random, o.rel.random, o.hub.random, o.scale.random
	o.relevance, o.rel, o.hub, o.groups, o.mean, o.scale = state.relevance, state.rel, state.hub, state.groups, state.mean, state.scale
	o.relevance.random, o.rel.random, o.hub.random, o.scale.random = random, rel, hub, of
}

// copied shares nothing with o that either changes.
func (o *Fused) copied() *Fused {
	raw, err := o.Encode()
	out := NewFused(nil, o.settings)
	if err == nil {
		err = out.Restore(raw)
	}
	if err != nil {
		panic(err) // never: it was encoded a moment ago
	}
	return out
}

func (r *regression) pool(base *regression, learned []*Fused, of func(*Fused) *regression) {
	past := make([][]outcome, len(learned))
	for i, o := range learned {
		past[i] = of(o).past
	}
	r.past = interleave(past, maxPast)
	for id := range r.weights {
		sum, all := 0.0, 0.0
		for _, o := range learned {
			l := of(o)
			gain := max(l.weights[id].gradients-base.weights[id].gradients, 0)
			sum += gain * l.weights[id].value
			all += gain
		}
		if all > 0 {
			r.weights[id].value, r.weights[id].gradients = sum/all, base.weights[id].gradients+all
		}
	}
}

func (g *groups) pool(base, learned *groups) {
	add := func(id uint32) {
		was, is, sum := base.Get(id), learned.Get(id), g.Get(id)
		if is.N > was.N {
			g.Put(id, groupOutcomes{sum.N + is.N - was.N, sum.Sum + is.Sum - was.Sum})
		}
	}
	for id := range learned.Old {
		if _, young := learned.Young[id]; !young {
			add(id)
		}
	}
	for id := range learned.Young {
		add(id)
	}
	g.Age()
}

func (r *Relevance) pool(base, learned *Relevance) {
	r.seen += learned.seen - base.seen
	for i := range r.parts {
		all, was := r.parts[i].all, base.parts[i].all
		for id, n := range learned.parts[i].all {
			if more := n - was[id]; more > 0 {
				all[id] += more
				r.parts[i].allSum += float64(more)
			}
		}
		if len(all) > maxTerms {
			r.parts[i].forget()
		}
	}
}

// interleave takes from each list in turn, from its end, up to a number of entries.
func interleave[T any](lists [][]T, most int) (out []T) {
	for at := 1; len(out) < most; at++ {
		some := false
		for _, list := range lists {
			if at <= len(list) && len(out) < most {
				out, some = append(out, list[len(list)-at]), true
			}
		}
		if !some {
			break
		}
	}
	slices.Reverse(out)
	return out
}
