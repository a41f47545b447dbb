//! Which points of a graph lie in a circle together.

/// For each point the number of its circle; a point in no circle has a number of its own. Tarjan's
/// algorithm with its own stack, as an estate may be deeper than the program's.
pub(super) fn of(next: &[Vec<usize>]) -> Vec<usize> {
    let mut walk = Walk::new(next.len());
    for start in 0..next.len() {
        if walk.index[start].is_none() {
            walk.from(start, next);
        }
    }
    walk.circle
}

struct Walk {
    index: Vec<Option<usize>>,
    low: Vec<usize>,
    open: Vec<usize>,
    is_open: Vec<bool>,
    circle: Vec<usize>,
    counted: usize,
}

impl Walk {
    fn new(points: usize) -> Self {
        Self {
            index: vec![None; points],
            low: vec![0; points],
            open: Vec::new(),
            is_open: vec![false; points],
            circle: vec![0; points],
            counted: 0,
        }
    }

    fn enter(&mut self, point: usize) {
        self.index[point] = Some(self.counted);
        self.low[point] = self.counted;
        self.counted += 1;
        self.open.push(point);
        self.is_open[point] = true;
    }

    fn from(&mut self, start: usize, next: &[Vec<usize>]) {
        let mut path = vec![(start, 0)];
        self.enter(start);
        while let Some((point, edge)) = path.pop() {
            if let Some(&to) = next[point].get(edge) {
                path.push((point, edge + 1));
                match self.index[to] {
                    None => {
                        self.enter(to);
                        path.push((to, 0));
                    }
                    Some(index) if self.is_open[to] => {
                        self.low[point] = self.low[point].min(index);
                    }
                    Some(_) => {}
                }
                continue;
            }
            if let Some((parent, _)) = path.last() {
                self.low[*parent] = self.low[*parent].min(self.low[point]);
            }
            if self.index[point] == Some(self.low[point]) {
                self.close(point);
            }
        }
    }

    fn close(&mut self, root: usize) {
        while let Some(point) = self.open.pop() {
            self.is_open[point] = false;
            self.circle[point] = root;
            if point == root {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circles_have_one_number_and_others_their_own() {
        let numbers = of(&[vec![1], vec![2], vec![0, 3], vec![4], vec![], vec![5]]);
        assert_eq!(numbers[0], numbers[1]);
        assert_eq!(numbers[1], numbers[2]);
        let mut apart = vec![numbers[0], numbers[3], numbers[4], numbers[5]];
        apart.dedup();
        assert_eq!(apart.len(), 4);
    }

    #[test]
    fn a_chain_as_long_as_an_estate_is_walked() {
        let next: Vec<Vec<usize>> = (1..=200_000)
            .map(|to| if to < 200_000 { vec![to] } else { vec![] })
            .collect();
        assert_eq!(of(&next).len(), 200_000);
    }
}
